// The numbers of views, to be saved.

import { table } from "../../dom/table.ts";
import { createTable, numbered } from "../../export/page_export.ts";
import type { Table } from "../../types.ts";
import type { HeatMapView, MatrixView, View, ViewRow } from "../types.ts";

type Numbers = { axes: Record<string, string[]>; values: unknown[] };

const LONGEST_NAME = 80; // characters
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

const COORDINATES = { coordinate: ["x", "y"] };

/**
 * The numbers that each kind shows. Words, strips, trees, diagrams, controls, sounds and files have none; the colours of
 * tokens are relative, and the columns of a table differ in what they count. A view of these may have tables of its own.
 */
const NUMBERS: { [Kind in View["kind"]]?: (view: Extract<View, { kind: Kind }>) => Numbers } = table({
  matrix: matrixNumbers,
  heat_map: matrixNumbers,
  changes: ({ parts }) => ({
    axes: { part: counted(parts.map(([name]) => name)) },
    values: parts.map(([, number]) => number),
  }),
  bars: ({ series, labels }) => seriesNumbers(series, "series", { bar: labels }),
  lines: ({ series, series_title, x, x_title }) =>
    seriesNumbers(series, series_title, { [x_title || "x"]: x.map(String) }),
  moving_points: ({ names, labels, frames }) => ({
    axes: { frame: names, point: counted(labels), ...COORDINATES },
    values: frames.map((frame) => frame.map((point) => point.slice(0, 2))),
  }),
  arrows: ({ arrows }) => ({
    axes: { arrow: counted(arrows.map(({ label }) => label)), ...COORDINATES },
    values: arrows.map(({ x, y }) => [x, y]),
  }),
  points: ({ points, x_title, y_title }) => ({
    axes: { point: counted(points.map(([label]) => label)), coordinate: [x_title || "x", y_title || "y"] },
    values: points.map(([, x, y]) => [x, y]),
  }),
  graph: ({ nodes, shades }) => ({ axes: { node: counted(nodes) }, values: shades }),
  alignment: ({ answer, read, weights }) => ({
    axes: { answer: counted(answer), read: counted(read) },
    values: weights,
  }),
  spans: ({ labels, spans }) => ({ axes: { span: counted(labels), end: ["from", "to"] }, values: spans }),
  image: ({ shades }) => ({
    axes: {
      drawing: counted(shades.map(([name]) => name)),
      patch: (shades[0]?.[1] ?? []).map((_, patch) => String(patch)),
    },
    values: shades.map(([, numbers]) => numbers),
  }),
  flow: ({ edges, columns, rows }) => {
    const names = counted(columns);
    const written = edges.map(([kind, row, from, to]) => `${kind}, ${rows[row]}: ${names[from]} to ${names[to]}`);
    return { axes: { edge: counted(written) }, values: edges.map(([, , , , share]) => share) };
  },
});

/** Tables whose files are named after a page. */
export function namedAfter(page: string, tables: Record<string, Table>): Record<string, Table> {
  const nameOf = ({ name }: Table) => `${page} ${name}`.slice(0, LONGEST_NAME);
  return Object.fromEntries(Object.entries(tables).map(([title, table]) => [title, { ...table, name: nameOf(table) }]));
}

/** The tables of a view: its own, or else the numbers that it shows. */
function numbersOf(view: View): Record<string, Numbers> {
  if (view.tables) return view.tables;
  const found = (NUMBERS[view.kind] as ((view: View) => Numbers) | undefined)?.(view);
  return found?.values.length ? { [view.title || "Numbers"]: found } : {};
}

/** Names with their places in front, since equal ones may be different. */
function counted(names: string[]) {
  return numbered(names.map((text) => ({ text })));
}

function matrixNumbers({ values, rows, columns, row_axis, column_axis }: MatrixView | HeatMapView): Numbers {
  const [row, column] = [row_axis || "row", column_axis || "column"];
  const axes = {
    [row]: values.map((_, place) => rows[place] ?? String(place)),
    [row === column ? `other ${column}` : column]: (values[0] ?? []).map((_, place) => columns[place] ?? String(place)),
  };
  return { axes, values };
}

/** Some series as numbers. @param name of the axis of the series @param other the other axis, with its labels */
function seriesNumbers(series: Record<string, unknown[]>, name: string, other: Record<string, string[]>): Numbers {
  return { axes: { [name]: Object.keys(series), ...other }, values: Object.values(series) };
}
