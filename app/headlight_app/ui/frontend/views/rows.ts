// Rows of views under their titles.

import { createElement, updateChildren } from "../dom/dom.ts";
import { keepScrolled } from "../dom/scrolling.ts";
import { titleNodes } from "../formulas/formula.ts";
import { isControl } from "./controls.ts";
import { withSums } from "./matrix.ts";
import type { Picks, Surroundings, View, ViewRow } from "./types.ts";
import { createView, redrawControls } from "./views.ts";

/**
 * Kept from answer to answer: whether folded rows are open, the rows with controls, and what was drawn of a row, or of
 * a view beside a control, with the `key` of all that it depends on besides; on the `choice` only what has picks
 * depends.
 */
export type Kept = {
  isOpen: boolean;
  key?: string;
  choice?: string;
  controls?: Map<string, HTMLElement>;
  drawn?: WeakMap<ViewRow | View, Drawn>;
};
export type Drawn = { key: string | undefined; element: HTMLElement };

/** A place for rows; one that is drawn already stays, unless the width has changed, or the choice and it has picks. */
export class RowsPlace {
  #place;
  #kept: Kept = { isOpen: false, controls: new Map(), drawn: new WeakMap() };

  constructor(place: HTMLElement) {
    this.#place = place;
  }

  draw(rows: ViewRow[], picks?: Picks, choice: unknown = null) {
    const width = this.#place.clientWidth;
    const kept = Object.assign(this.#kept, { key: String(width), choice: JSON.stringify(choice) });
    const drawn = createRows(rows, { width, picks }, kept);
    keepScrolled(this.#place, () => updateChildren(this.#place, ...drawn), true);
  }
}

/** Rows one below the other; folded rows are together under the heading of the first of them. */
export function createRows(rows: ViewRow[], surroundings: Surroundings, kept: Kept): HTMLElement[] {
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

/** What tells each row with controls from the others; equal ones are numbered. */
function namesOf(rows: ViewRow[]) {
  const names = rows.map(({ title, views }) => JSON.stringify([title, ...views.filter(isControl).map(nameOf)]));
  return names.map((name, place) => `${name} ${names.slice(0, place).filter((other) => other === name).length}`);
}

function createRow(row: ViewRow, name: string, surroundings: Surroundings, kept: Kept) {
  const hasControls = row.views.some(isControl);
  if (!kept.controls || !hasControls) return drawnOnce(row, kept, () => createNewRow(row, surroundings, kept));
  const old = kept.controls.get(name);
  if (old) redrawRow(old, row, surroundings, kept);
  const element = old ?? createNewRow(row, surroundings, kept);
  kept.controls.set(name, element);
  return element;
}

/** What was drawn with the same key, or else now. */
function drawnOnce(shown: ViewRow | View, { key: general, choice, drawn }: Kept, draw: () => HTMLElement) {
  const key = choice && hasPicks(shown) ? `${general} ${choice}` : general;
  const known = drawn?.get(shown);
  if (known && known.key === key) return known.element;
  const element = draw();
  drawn?.set(shown, { key, element });
  return element;
}

function hasPicks(shown: ViewRow | View): boolean {
  if ("views" in shown) return shown.views.some(hasPicks);
  return (
    shown.kind === "flow" || Object.entries(shown).some(([name, value]) => name.endsWith("picks") && value?.length)
  );
}

/** Only the views around the controls are drawn anew. */
function redrawRow(element: HTMLElement, row: ViewRow, surroundings: Surroundings, kept: Kept) {
  redrawControls(element, row.views, surroundings);
  drawText(element, row.text);
  if (row.views.every(isControl)) return;
  const place = element.querySelector(":scope > .views") as HTMLElement;
  const controls = [...place.children].filter((view) => view.querySelector(".control-place"));
  const views = row.views.map((view) =>
    isControl(view) ? (controls.shift() as Element) : createBeside(view, surroundings, kept),
  );
  updateChildren(place, ...views);
}

/** A view beside a control. */
function createBeside(view: View, surroundings: Surroundings, kept: Kept) {
  return drawnOnce(view, kept, () => createView(view, surroundings));
}

/** What tells a control from others: buttons without a title are told by their own names. */
function nameOf(view: View) {
  return view.kind === "choice" ? [view.form, view.title, !view.title && view.options] : [view.kind, view.title];
}

function createNewRow(row: ViewRow, surroundings: Surroundings, kept: Kept) {
  const element = createElement("div", "view-row");
  if (row.title) element.append(createElement(surroundings.isPage ? "h2" : "h3", "", titleNodes(row.title)));
  const hasControls = row.views.some(isControl);
  const views = withSums(row.views).map((view) =>
    hasControls && !isControl(view) ? createBeside(view, surroundings, kept) : createView(view, surroundings),
  );
  element.append(createElement("div", "views", views));
  drawText(element, row.text);
  return element;
}

/** The text above a row's views, if it has one. */
function drawText(element: HTMLElement, text: string) {
  const old = element.querySelector(":scope > p.quiet");
  if (!text) return old?.remove();
  const words = old ?? createElement("p", "quiet");
  words.replaceChildren(...titleNodes(text));
  if (!old) element.querySelector(":scope > .views")?.before(words);
}
