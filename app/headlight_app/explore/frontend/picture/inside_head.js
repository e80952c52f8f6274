// The way into a head, beneath its map: query, key and value, the score, the weight, and what the head adds.

import { createElement } from "../../../ui/frontend/dom/dom.js";

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
  const way = createElement("p", "inside");
  const first = createButton(page, "input", "Step by step");
  way.append(first, ...STEPS.flatMap(([step, title]) => ["→", createButton(page, step, title)]));
  const ledger = createElement("section", "why", [], { testid: "ledger", hidden: true });
  page.view.elements.reading.after(way, ledger);
}

/** @param {ExplorePage} page @param {string} step @param {string} title */
function createButton(page, step, title) {
  const button = createElement("button", "small", title, { testid: `inside-${step}` });
  button.onclick = () => page.change({ tab: "walkthrough", step });
  return button;
}
