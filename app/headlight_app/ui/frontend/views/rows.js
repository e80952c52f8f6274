// Rows of views under their titles.

import { createElement } from "../dom/dom.js";
import { titleNodes } from "../formulas/formula.js";
import { createView } from "./views.js";

/** @import { Surroundings, ViewRow } from "./types.js" */

/**
 * Rows one below the other; folded rows are together under the heading of the first of them.
 * @param {ViewRow[]} rows @param {Surroundings} surroundings @param {{ isOpen: boolean }} fold kept from answer to answer
 * @returns {HTMLElement[]}
 */
export function createRows(rows, surroundings, fold) {
  const first = rows.findIndex(({ folded }) => folded);
  if (first < 0) return rows.map((row) => createRow(row, surroundings));
  const drawn = rows.map((row, place) => createRow(place === first ? { ...row, title: "" } : row, surroundings));
  const last = rows.findLastIndex(({ folded }) => folded);
  const summary = createElement("summary", "", titleNodes(rows[first].title));
  const details = createElement("details", "folded", [summary, ...drawn.slice(first, last + 1)], { open: fold.isOpen });
  details.ontoggle = () => {
    fold.isOpen = details.open;
  };
  return [...drawn.slice(0, first), details, ...drawn.slice(last + 1)];
}

/** @param {ViewRow} row @param {Surroundings} surroundings */
function createRow(row, surroundings) {
  const element = createElement("div", "view-row");
  if (row.title) element.append(createElement("h3", "", titleNodes(row.title)));
  if (row.text) element.append(createElement("p", "quiet", titleNodes(row.text)));
  const views = row.views.map((view) => createView(view, surroundings));
  element.append(createElement("div", "views", views));
  return element;
}
