// Rows of views under their titles.

import { createElement } from "../dom/dom.js";
import { titleNodes } from "../formulas/formula.js";
import { isControl } from "./controls.js";
import { createView, redrawControls } from "./views.js";

/** @import { Surroundings, ViewRow } from "./types.js" */
/** @typedef {{ isOpen: boolean, controls?: Map<string, HTMLElement> }} Kept from answer to answer: whether folded rows are open, and rows of controls */

/**
 * Rows one below the other; folded rows are together under the heading of the first of them.
 * @param {ViewRow[]} rows @param {Surroundings} surroundings @param {Kept} kept
 * @returns {HTMLElement[]}
 */
export function createRows(rows, surroundings, kept) {
  const first = rows.findIndex(({ folded }) => folded);
  if (first < 0) return rows.map((row) => createRow(row, surroundings, kept));
  const drawn = rows.map((row, place) => createRow(place === first ? { ...row, title: "" } : row, surroundings, kept));
  const last = rows.findLastIndex(({ folded }) => folded);
  const summary = createElement("summary", "", titleNodes(rows[first].title));
  const details = createElement("details", "folded", [summary, ...drawn.slice(first, last + 1)], { open: kept.isOpen });
  details.ontoggle = () => {
    kept.isOpen = details.open;
  };
  return [...drawn.slice(0, first), details, ...drawn.slice(last + 1)];
}

/** @param {ViewRow} row @param {Surroundings} surroundings @param {Kept} kept */
function createRow(row, surroundings, { controls }) {
  if (!controls || !row.views.every(isControl)) return createNewRow(row, surroundings);
  const key = JSON.stringify([row.title, row.text, ...row.views.map(({ kind, title }) => [kind, title])]);
  const old = controls.get(key);
  if (old) redrawControls(old, row.views, surroundings);
  else controls.set(key, createNewRow(row, surroundings));
  return /** @type {HTMLElement} */ (controls.get(key));
}

/** @param {ViewRow} row @param {Surroundings} surroundings */
function createNewRow(row, surroundings) {
  const element = createElement("div", "view-row");
  if (row.title) element.append(createElement("h3", "", titleNodes(row.title)));
  if (row.text) element.append(createElement("p", "quiet", titleNodes(row.text)));
  const views = row.views.map((view) => createView(view, surroundings));
  element.append(createElement("div", "views", views));
  return element;
}
