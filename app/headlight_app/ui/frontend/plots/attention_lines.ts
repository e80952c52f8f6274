// The chosen heads as lines between two columns of tokens, each head in its colour.

import { HEAD_COLOURS, NEGATIVE_COLOUR } from "../charts/colours.ts";
import type { Connection, ConnectionsLayout, TokenColumn } from "../charts/connections.ts";
import { addConnections, layoutConnections } from "../charts/connections.ts";
import { paintFigure } from "../charts/paint_shapes.ts";
import { remembered } from "../dom/memory.ts";
import { MAX_LINE_HEADS, magnitude, SHOWN, shownMatrix, stateAt, valueAt } from "../state/head_matrix.ts";
import { activeColumn, activeRows, hoveredColumn } from "../state/token_selection.ts";
import type { HeadMatrix, Page, Plot } from "../types.ts";
import { currentStyle, plotHeight } from "./measurements.ts";

const MANY_TOKENS = 100; // tokens; beyond that, only the strongest lines of each are drawn
const LINES_PER_ROW = 6;
const FAINT = 0.06; // opacity of lines behind highlighted ones

type Line = { column: number; number: number };
type LineFilter = (row: number, column: number) => boolean;

const memory = remembered(() => ({ layout: null as ConnectionsLayout | null }));
const linesOf = remembered((_: HeadMatrix) => new Map() as Map<Float32Array, Line[][]>);

export const ATTENTION_LINES: Plot = { draw: drawAttentionLines, tokenAt: lineTokenAt };

/** The heads that are drawn with separate lines. */
export function lineHeads({ per_head, numbers }: HeadMatrix) {
  return per_head.length > 1 ? per_head.slice(0, MAX_LINE_HEADS) : [numbers];
}

/** The distance between tokens on the screen, and the font size of their names. @param count of tokens */
function lineSizes(page: Page, count: number) {
  const large = page.state.choice.panel_size === "large";
  const { type } = currentStyle(page);
  const step =
    count > 200
      ? Math.max(2600 / count, 3)
      : Math.min(Math.max((plotHeight(page) - 40) / count, 13 * type), (large ? 40 : 28) * type);
  return { step, size: (step < 16 * type ? 10 : 12.5) * type };
}

function drawAttentionLines(page: Page, matrix: HeadMatrix, width: number, canvas: HTMLCanvasElement) {
  const column = activeColumn(page, matrix);
  const sides: [TokenColumn, TokenColumn] = [
    { title: "query", names: matrix.rows.labels, hot: activeRows(page, matrix) },
    { title: "key", names: matrix.columns.labels, hot: column === undefined ? [] : [column] },
  ];
  const count = Math.max(matrix.rows.labels.length, matrix.columns.labels.length);
  const layout = layoutConnections(sides, { x: 0, y: 0, width }, lineSizes(page, count));
  memory(page).layout = layout;
  paintFigure(canvas, width, currentStyle(page), (figure) => {
    const lines = attentionLines(matrix, lineFilter(page, matrix), figure.look.beam);
    return addConnections(figure, layout, sides, lines) + 6;
  });
}

/**
 * The lines of all heads, each in its colour if there are several: first the faint ones, then the highlighted ones.
 * @param chosen the highlighted ones; null: all @param beam the colour of one head
 */
export function attentionLines(matrix: HeadMatrix, chosen: LineFilter | null, beam: string): Connection[] {
  const heads = lineHeads(matrix);
  const all = heads.flatMap((numbers, place) =>
    rowLines(matrix, numbers).flatMap((ends, row) =>
      ends.map(({ column, number }) => {
        const strong = !chosen || chosen(row, column);
        const strength = magnitude(matrix, number);
        const one = matrix.signed && number < 0 ? NEGATIVE_COLOUR : beam;
        return {
          ...{ row, column, strength, strong, dashed: place >= HEAD_COLOURS.length },
          stroke: heads.length > 1 ? HEAD_COLOURS[place % HEAD_COLOURS.length] : one,
          opacity: Math.min(strength * 1.1, 1) * (strong ? 1 : FAINT),
        };
      }),
    ),
  );
  const ordered = [...all.filter(({ strong }) => !strong), ...all.filter(({ strong }) => strong)];
  return ordered.map(({ strong: _, ...line }) => line);
}

/** Selects the highlighted lines: those of the active queries, or those that end in the key under the pointer. */
function lineFilter(page: Page, matrix: HeadMatrix): LineFilter | null {
  const column = hoveredColumn(page, matrix);
  const hovered = page.state.pointer?.query !== null && page.state.pointer?.query !== undefined;
  const { pinned } = page.state.choice;
  if (!hovered && !pinned.length) return column === undefined ? null : (_, other) => other === column;
  const rows = new Set(activeRows(page, matrix));
  return (row, other) => rows.has(row) && (column === undefined || other === column);
}

/** The columns to which a row of one head has lines: all that are shown, or for a long text the strongest. */
function visibleKeys(matrix: HeadMatrix, row: number, numbers: Float32Array) {
  const count = matrix.columns.labels.length;
  const ends = [];
  for (let column = 0; column < count; column++) {
    if (matrix.per_head.length < 2 && stateAt(matrix, row, column) !== SHOWN) continue;
    const number = valueAt(matrix, row, column, numbers);
    if (magnitude(matrix, number) > 0.01) ends.push({ column, number });
  }
  if (count <= MANY_TOKENS) return ends;
  return ends
    .sort((one, other) => magnitude(matrix, other.number) - magnitude(matrix, one.number))
    .slice(0, LINES_PER_ROW);
}

/** The lines of every row of one head, computed once for each matrix. */
function rowLines(matrix: HeadMatrix, numbers: Float32Array) {
  const known = linesOf(matrix);
  const found = known.get(numbers) ?? matrix.rows.labels.map((_, row) => visibleKeys(matrix, row, numbers));
  known.set(numbers, found);
  return found;
}

/** The token under the pointer: a query on the left and between the columns, a key on the right. */
function lineTokenAt(page: Page, event: MouseEvent) {
  const { layout } = memory(page);
  const matrix = shownMatrix(page);
  if (!layout || !matrix) return null;
  const frame = page.view.elements.canvas.getBoundingClientRect();
  const line = Math.floor((event.clientY - frame.top - layout.top) / layout.step);
  const key = event.clientX - frame.left > layout.right;
  const { rows, columns } = matrix;
  if (line < 0 || line >= (key ? columns : rows).labels.length) return null;
  return key ? { query: null, key: columns.tokens[line][0] ?? null } : { query: rows.tokens[line][0], key: null };
}
