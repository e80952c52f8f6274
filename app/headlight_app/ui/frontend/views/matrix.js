// A matrix as a heat map with the numbers in its cells.

import { divergingColour } from "../charts/charts.js";
import { createElement, createHeading } from "../dom/dom.js";
import { formatFixed, largestSize } from "./drawing/numbers.js";

/** @import { MatrixView } from "./types.js" */

/** @param {MatrixView} view */
export function createMatrix(view) {
  const table = createElement("table", "heat");
  if (view.title) table.ariaLabel = view.title;
  const head = createHead(view);
  if (head) table.append(head);
  const body = createElement("tbody", "", [...view.values.map((_, row) => createLine(view, row))]);
  table.append(body);
  return createElement("div", "scroll", [table]);
}

/** @param {MatrixView} view */
function createHead({ values, rows, columns, row_axis, column_axis, row_sums }) {
  if (!columns.length && !row_sums && !column_axis) return null;
  const line = createElement("tr");
  if (rows.length) line.append(createElement("td", "axes", axes(row_axis, column_axis)));
  line.append(
    ...values[0].map((_, column) =>
      columns[column] ? createHeading(columns[column], "col") : createElement("td", "axes"),
    ),
  );
  if (row_sums) line.append(createHeading("sum", "col"));
  return createElement("thead", "", [line]);
}

/** @param {string} row @param {string} column */
function axes(row, column) {
  return [row && `${row} ↓`, column && `${column} →`].filter(Boolean).join(" ");
}

/** @param {MatrixView} view @param {number} row */
function createLine(view, row) {
  const { values, rows, row_sums, digits } = view;
  const line = createElement("tr");
  if (rows.length) line.append(createHeading(rows[row] ?? "", "row"));
  line.append(...values[row].map((_, column) => createCell(view, row, column)));
  if (row_sums) {
    const sum = values[row].reduce((/** @type {number} */ total, value) => total + Number(value), 0);
    line.append(createElement("td", "sum", formatFixed(Math.round(sum * 1e6) / 1e6, digits)));
  }
  return line;
}

/** @param {MatrixView} view @param {number} row @param {number} column */
function createCell({ values, colours, crossed, marked, digits }, row, column) {
  const value = Number(values[row][column]);
  const cell = createElement("td", "", formatFixed(value, digits));
  if (crossed?.[row][column]) cell.classList.add("crossed");
  else if (colours !== "none" && Number.isFinite(value)) {
    const largest = colours === "weights" ? 1 : largestSize(values.flat());
    cell.style.background = divergingColour(value / largest);
  }
  cell.title = String(value);
  cell.classList.toggle(
    "marked",
    marked.some(([markedRow, markedColumn]) => markedRow === row && markedColumn === column),
  );
  return cell;
}
