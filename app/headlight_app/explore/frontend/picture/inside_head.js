// Links into a head, below its map: query, key and value, the score, the weight, and the head's output.

import { createButton, createElement } from "../../../ui/frontend/dom/dom.js";

/** @import { ExplorePage } from "../types.js" */

/** Walkthrough steps that every attention has, with their short titles. @type {[step: string, title: string][]} */
const STEPS = [
  ["project", "Q K V"],
  ["mask", "score"],
  ["weights", "weight"],
  ["weighted-sum", "values"],
  ["output", "adds"],
];

/**
 * Adds the steps and the place for a cell's ledger below the reading of the chosen heads, once.
 * @param {ExplorePage} page
 */
export function createWayIntoHead(page) {
  const button = (/** @type {string} */ step, /** @type {string} */ title) =>
    createButton("small", title, `inside-${step}`, () => page.change({ tab: "walkthrough", step }));
  const steps = STEPS.flatMap(([step, title]) => ["→", button(step, title)]);
  const way = createElement("p", "inside", [button("input", "Step by step"), ...steps]);
  const ledger = createElement("section", "why", [], { testid: "ledger", hidden: true });
  page.view.elements.reading.after(way, ledger);
}
