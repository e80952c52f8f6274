// Rows of views under their titles.

import { createElement } from "../dom/dom.js";
import { titleNodes } from "../formulas/formula.js";
import { isControl } from "./controls.js";
import { createView, redrawControls } from "./views.js";

/** @import { Surroundings, View, ViewRow } from "./types.js" */
/**
 * Kept from answer to answer: whether folded rows are open, the rows of controls, and what was drawn of a row with the
 * `key` of all that it depends on besides.
 * @typedef {{ isOpen: boolean, key?: string, controls?: Map<string, HTMLElement>, drawn?: WeakMap<ViewRow, Drawn> }} Kept
 */
/** @typedef {{ key: string | undefined, element: HTMLElement }} Drawn */

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
function createRow(row, surroundings, { key: chosen, controls, drawn }) {
  if (!controls || !row.views.length || !row.views.every(isControl)) {
    const known = drawn?.get(row);
    if (known && known.key === chosen) return known.element;
    const element = createNewRow(row, surroundings);
    drawn?.set(row, { key: chosen, element });
    return element;
  }
  const key = JSON.stringify([row.title, ...row.views.map(nameOf)]);
  const old = controls.get(key);
  if (old) {
    redrawControls(old, row.views, surroundings);
    old.querySelector(":scope > p.quiet")?.replaceChildren(...titleNodes(row.text));
  } else controls.set(key, createNewRow(row, surroundings));
  return /** @type {HTMLElement} */ (controls.get(key));
}

/** What tells a control from others: buttons without a title are told by their own names. @param {View} view */
function nameOf(view) {
  return view.kind === "choice" ? [view.form, view.title, !view.title && view.options] : [view.kind, view.title];
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
