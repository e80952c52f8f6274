// The numbers of views, to be saved.

import { createTable } from "../../export/page_export.ts";
import type { Table } from "../../types.ts";
import type { HeatMapView, MatrixView, View, ViewRow } from "../types.ts";

type Numbers = { axes: Record<string, string[]>; values: unknown[] };

export const LONGEST_NAME = 80; // characters
const NO_NAME = /[^a-z0-9 _-]+/g; // in the name of a file

/** The tables of some rows, by their titles; a repeated title gets a number. */
export function tablesOf(rows: ViewRow[]): Record<string, Table> {
  const found = rows.flatMap((row) => row.views).flatMap((view) => Object.entries(numbersOf(view)));
  const titles = found.map(([title], place) => {
    const earlier = found.slice(0, place).filter(([other]) => other === title).length;
    return earlier ? `${title} (${earlier + 1})` : title;
  });
  return Object.fromEntries(
    found.map(([, { axes, values }], place) => {
      const numbers = (values.flat(Infinity) as unknown[]).map(Number);
      const name = titles[place].toLowerCase().replace(NO_NAME, "").slice(0, LONGEST_NAME) || "numbers";
      return [titles[place], createTable(name, axes, numbers)];
    }),
  );
}

/** The tables of a view: its own, or else the numbers that it shows. */
function numbersOf(view: View): Record<string, Numbers> {
  if (view.tables) return view.tables;
  const title = view.title || "Numbers";
  if (view.kind === "matrix" || view.kind === "heat_map") return { [title]: matrixNumbers(view) };
  if (view.kind === "changes")
    return {
      [title]: { axes: { part: view.parts.map(([name]) => name) }, values: view.parts.map(([, number]) => number) },
    };
  if (view.kind === "bars") return { [title]: seriesNumbers(view.series, "series", { bar: view.labels }) };
  if (view.kind !== "lines") return {};
  return { [title]: seriesNumbers(view.series, view.series_title, { [view.x_title || "x"]: view.x.map(String) }) };
}

function matrixNumbers({ values, rows, columns, row_axis, column_axis }: MatrixView | HeatMapView): Numbers {
  const [row, column] = [row_axis || "row", column_axis || "column"];
  const axes = {
    [row]: values.map((_, place) => rows[place] ?? String(place)),
    [row === column ? `other ${column}` : column]: values[0].map((_, place) => columns[place] ?? String(place)),
  };
  return { axes, values };
}

/** @param name of their axis @param other axis */
function seriesNumbers(series: Record<string, unknown[]>, name: string, other: Record<string, string[]>): Numbers {
  return { axes: { [name]: Object.keys(series), ...other }, values: Object.values(series) };
}
