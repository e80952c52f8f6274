// The way into a head, beneath its map: query, key and value, the score, the weight, and what the head adds.

import { createButton, createElement } from "../../../ui/frontend/dom/dom.js";

/** @import { ExplorePage } from "../types.js" */

/** Steps of the walkthrough that every attention has, as a picture of a head names them. @type {[step: string, title: string][]} */
const STEPS = [
  ["project", "Q K V"],
  ["mask", "score"],
  ["weights", "weight"],
  ["weighted-sum", "values"],
  ["output", "adds"],
];

/** Puts the steps beneath what is read of the chosen heads, and the place of a cell's ledger, once. @param {ExplorePage} page */
export function createWayIntoHead(page) {
  const button = (/** @type {string} */ step, /** @type {string} */ title) =>
    createButton("small", title, `inside-${step}`, () => page.change({ tab: "walkthrough", step }));
  const steps = STEPS.flatMap(([step, title]) => ["→", button(step, title)]);
  const way = createElement("p", "inside", [button("input", "Step by step"), ...steps]);
  const ledger = createElement("section", "why", [], { testid: "ledger", hidden: true });
  page.view.elements.reading.after(way, ledger);
}
