// A mask, drawn cell by cell: the table of a control, and a button to submit it.

import { createElement } from "../../../ui/frontend/dom/dom.js";
import { MatrixTable, writeCells } from "../controls/matrix_table.js";

/** @import { Kind } from "../question.js" */

/** @type {Kind} */
export function createDraw({ rows, columns, given }, answer) {
  let drawn = given.includes(",") ? given : writeCells(rows.map(() => columns.map(() => "0")));
  /** @param {string[]} labels */
  const axis = (labels) => ({ name: "", least: labels.length, most: labels.length, labels });
  const sides = { rows: axis(rows), columns: axis(columns) };
  const named = { kind: /** @type {const} */ ("matrix"), name: "answer", title: "Your mask", default: drawn, when: "" };
  /** @param {string} text */
  const keep = (text) => {
    drawn = text;
  };
  const table = new MatrixTable({ ...named, ...sides, switches: true }, keep, [], () => {});
  table.draw(drawn);
  const button = createElement("button", "small", "Check", { onclick: () => answer(drawn) });
  return createElement("div", "scroll", [table.element, button]);
}
