// Rows of pictures under their titles.

import { createElement } from "../../ui/frontend/dom/dom.js";
import { titleNodes } from "./formulas/formula.js";
import { createPicture } from "./pictures/pictures.js";

/** @import { Surroundings } from "./links.js" */
/** @import { Row } from "./types.d.ts" */

/**
 * Rows one below the other; folded rows are together under the heading of the first of them.
 * @param {Row[]} rows @param {Surroundings} surroundings @param {{ isOpen: boolean }} fold kept from answer to answer
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

/** @param {Row} row @param {Surroundings} surroundings */
function createRow(row, surroundings) {
  const element = createElement("div", "row");
  if (row.title) element.append(createElement("h3", "", titleNodes(row.title)));
  if (row.text) element.append(createElement("p", "quiet", titleNodes(row.text)));
  const pictures = row.pictures.map((picture) => createPicture(picture, surroundings));
  element.append(createElement("div", "pictures", pictures));
  return element;
}
