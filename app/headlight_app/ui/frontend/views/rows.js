// Rows of views under their titles.

import { createElement, updateChildren } from "../dom/dom.js";
import { titleNodes } from "../formulas/formula.js";
import { isControl } from "./controls.js";
import { createView, redrawControls } from "./views.js";

/** @import { Surroundings, View, ViewRow } from "./types.js" */
/**
 * Kept from answer to answer: whether folded rows are open, the rows with controls, and what was drawn of a row, or of
 * a view beside a control, with the `key` of all that it depends on besides; on the `choice` only what has picks depends.
 * @typedef {{ isOpen: boolean, key?: string, choice?: string, controls?: Map<string, HTMLElement>, drawn?: WeakMap<ViewRow | View, Drawn> }} Kept
 */
/** @typedef {{ key: string | undefined, element: HTMLElement }} Drawn */

/**
 * Rows one below the other; folded rows are together under the heading of the first of them.
 * @param {ViewRow[]} rows @param {Surroundings} surroundings @param {Kept} kept
 * @returns {HTMLElement[]}
 */
export function createRows(rows, surroundings, kept) {
  const first = rows.findIndex(({ folded }) => folded);
  const shown = rows.map((row, place) => (place === first ? { ...row, title: "" } : row)); // the summary has its title
  const names = namesOf(shown);
  const drawn = shown.map((row, place) => createRow(row, names[place], surroundings, kept));
  if (first < 0) return drawn;
  const last = rows.findLastIndex(({ folded }) => folded);
  const summary = createElement("summary", "", titleNodes(rows[first].title));
  const details = createElement("details", "folded", [summary, ...drawn.slice(first, last + 1)], { open: kept.isOpen });
  details.ontoggle = () => {
    kept.isOpen = details.open;
  };
  return [...drawn.slice(0, first), details, ...drawn.slice(last + 1)];
}

/** What tells each row with controls from the others; equal ones are numbered. @param {ViewRow[]} rows */
function namesOf(rows) {
  const names = rows.map(({ title, views }) => JSON.stringify([title, ...views.filter(isControl).map(nameOf)]));
  return names.map((name, place) => `${name} ${names.slice(0, place).filter((other) => other === name).length}`);
}

/** @param {ViewRow} row @param {string} name @param {Surroundings} surroundings @param {Kept} kept */
function createRow(row, name, surroundings, kept) {
  const hasControls = row.views.some(isControl);
  if (!kept.controls || !hasControls) return drawnOnce(row, kept, () => createNewRow(row, surroundings, kept));
  const old = kept.controls.get(name);
  if (old) redrawRow(old, row, surroundings, kept);
  const element = old ?? createNewRow(row, surroundings, kept);
  kept.controls.set(name, element);
  return element;
}

/** What was drawn with the same key, or else now. @param {ViewRow | View} shown @param {Kept} kept @param {() => HTMLElement} draw */
function drawnOnce(shown, { key: general, choice, drawn }, draw) {
  const key = choice && hasPicks(shown) ? `${general} ${choice}` : general;
  const known = drawn?.get(shown);
  if (known && known.key === key) return known.element;
  const element = draw();
  drawn?.set(shown, { key, element });
  return element;
}

/** @param {ViewRow | View} shown @returns {boolean} */
function hasPicks(shown) {
  if ("views" in shown) return shown.views.some(hasPicks);
  return (
    shown.kind === "flow" || Object.entries(shown).some(([name, value]) => name.endsWith("picks") && value?.length)
  );
}

/** Only the views around the controls are drawn anew. @param {HTMLElement} element @param {ViewRow} row @param {Surroundings} surroundings @param {Kept} kept */
function redrawRow(element, row, surroundings, kept) {
  redrawControls(element, row.views, surroundings);
  drawText(element, row.text);
  if (row.views.every(isControl)) return;
  const place = /** @type {HTMLElement} */ (element.querySelector(":scope > .views"));
  const controls = [...place.children].filter((view) => view.querySelector(".control-place"));
  const views = row.views.map((view) =>
    isControl(view) ? /** @type {Element} */ (controls.shift()) : createBeside(view, surroundings, kept),
  );
  updateChildren(place, ...views);
}

/** A view beside a control. @param {View} view @param {Surroundings} surroundings @param {Kept} kept */
function createBeside(view, surroundings, kept) {
  return drawnOnce(view, kept, () => createView(view, surroundings));
}

/** What tells a control from others: buttons without a title are told by their own names. @param {View} view */
function nameOf(view) {
  return view.kind === "choice" ? [view.form, view.title, !view.title && view.options] : [view.kind, view.title];
}

/** @param {ViewRow} row @param {Surroundings} surroundings @param {Kept} kept */
function createNewRow(row, surroundings, kept) {
  const element = createElement("div", "view-row");
  if (row.title) element.append(createElement(surroundings.isPage ? "h2" : "h3", "", titleNodes(row.title)));
  const hasControls = row.views.some(isControl);
  const views = row.views.map((view) =>
    hasControls && !isControl(view) ? createBeside(view, surroundings, kept) : createView(view, surroundings),
  );
  element.append(createElement("div", "views", views));
  drawText(element, row.text);
  return element;
}

/** The text above a row's views, if it has one. @param {HTMLElement} element @param {string} text */
function drawText(element, text) {
  const old = element.querySelector(":scope > p.quiet");
  if (!text) return old?.remove();
  const words = old ?? createElement("p", "quiet");
  words.replaceChildren(...titleNodes(text));
  if (!old) element.querySelector(":scope > .views")?.before(words);
}
