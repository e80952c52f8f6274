// The numbers of views, to be saved.

import { createTable } from "../../export/page_export.js";

/** @import { Table } from "../../types.js" */
/** @import { HeatMapView, MatrixView, View, ViewRow } from "../types.js" */
/** @typedef {{ axes: Record<string, string[]>, values: unknown[] }} Numbers */

/** The tables of some rows, by their titles. @param {ViewRow[]} rows @returns {Record<string, Table>} */
export function tablesOf(rows) {
  const found = rows.flatMap((row) => row.views).flatMap((view) => Object.entries(numbersOf(view)));
  return Object.fromEntries(
    found.map(([title, { axes, values }]) => {
      const numbers = /** @type {unknown[]} */ (values.flat(Infinity)).map(Number);
      return [title, createTable(title.toLowerCase(), axes, numbers)];
    }),
  );
}

/** The tables of a view: its own, or else the numbers that it shows. @param {View} view @returns {Record<string, Numbers>} */
function numbersOf(view) {
  if (Object.keys(view.tables).length) return view.tables;
  const title = view.title || "Numbers";
  if (view.kind === "matrix" || view.kind === "heat_map") return { [title]: matrixNumbers(view) };
  if (view.kind === "changes")
    return { [title]: { axes: { part: Object.keys(view.parts) }, values: Object.values(view.parts) } };
  if (view.kind === "bars") return { [title]: seriesNumbers(view.series, "series", { bar: view.labels }) };
  if (view.kind !== "lines") return {};
  return { [title]: seriesNumbers(view.series, view.series_title, { [view.x_title || "x"]: view.x.map(String) }) };
}

/** @param {MatrixView | HeatMapView} view @returns {Numbers} */
function matrixNumbers({ values, rows, columns, row_axis, column_axis }) {
  const [row, column] = [row_axis || "row", column_axis || "column"];
  const axes = {
    [row]: values.map((_, place) => rows[place] ?? String(place)),
    [row === column ? `other ${column}` : column]: values[0].map((_, place) => columns[place] ?? String(place)),
  };
  return { axes, values };
}

/** @param {Record<string, unknown[]>} series @param {string} name of their axis @param {Record<string, string[]>} other axis @returns {Numbers} */
function seriesNumbers(series, name, other) {
  return { axes: { [name]: Object.keys(series), ...other }, values: Object.values(series) };
}
