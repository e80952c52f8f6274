// The chosen heads as lines between two columns of tokens, each head in its colour.

import { HEAD_COLOURS, NEGATIVE_COLOUR } from "../charts/colours.js";
import { context2d, hidpiContext, inlineText, truncateText } from "../dom/dom.js";
import { currentStyle, plotHeight } from "../heads/measurements.js";
import { MAX_LINE_HEADS, magnitude, SHOWN, shownMatrix, stateAt, valueAt } from "../state/head_matrix.js";
import { remembered } from "../state/memory.js";
import { activeColumn, activeRows, hoveredColumn } from "../state/token_selection.js";

/** @import { HeadMatrix, Page, Plot } from "../types.js" */

const MANY_TOKENS = 100; // tokens; past that only the strongest lines of each are drawn
const LINES_PER_ROW = 6;
export const FAINT = 0.06; // how much is left of lines that others stand out from

/** @typedef {{ rows: number, step: number, left: number, right: number, top: number, width: number, size: number }} LinesLayout */
/** @typedef {{ column: number, number: number }} Line */
/** @typedef {(row: number, column: number) => boolean} LineFilter */
/**
 * The lines of one row of one head, which has a colour of its own where there are several.
 * @typedef {object} RowLines
 * @property {number} row
 * @property {Float32Array} numbers
 * @property {{ colour: string, broken: boolean } | null} head
 * @property {boolean} strong
 * @property {LineFilter | null} chosen
 */

const memory = remembered(() => ({ layout: /** @type {LinesLayout | null} */ (null) }));
const linesOf = remembered((/** @type {HeadMatrix} */ _) => /** @type {Map<Float32Array, Line[][]>} */ (new Map()));

/** @type {Plot} */
export const ATTENTION_LINES = { draw: drawAttentionLines, tokenAt: lineTokenAt };

/**
 * @param {CanvasRenderingContext2D} context @param {Page} page @param {HeadMatrix} matrix @param {number} width
 * @returns {LinesLayout}
 */
function layoutLines(context, page, matrix, width) {
  const large = page.state.choice.panel_size === "large";
  const { type } = currentStyle(page);
  const rows = Math.max(matrix.rows.labels.length, matrix.columns.labels.length);
  const step =
    rows > 200
      ? Math.max(2600 / rows, 3)
      : Math.min(Math.max((plotHeight(page) - 40) / rows, 13 * type), (large ? 40 : 28) * type);
  const size = (step < 16 * type ? 10 : 12.5) * type;
  context.font = `600 ${size}px ${currentStyle(page).font}`;
  /** @param {string[]} names */
  const longest = (names) =>
    Math.max(...names.slice(0, 400).map((name) => context.measureText(inlineText(name)).width), 30);
  /** @param {string[]} names */
  const side = (names) => Math.min(longest(names) + 14, width * 0.34);
  return {
    rows,
    step,
    left: side(matrix.rows.labels),
    right: width - side(matrix.columns.labels),
    top: 14 + 12 * type,
    width,
    size,
  };
}

/** @param {Page} page @param {HeadMatrix} matrix @param {number} width @param {HTMLCanvasElement} canvas */
function drawAttentionLines(page, matrix, width, canvas) {
  const sizes = layoutLines(context2d(canvas), page, matrix, width);
  memory(page).layout = sizes;
  const context = hidpiContext(canvas, width, sizes.top + sizes.rows * sizes.step + 6);
  context.textBaseline = "middle";
  const rows = activeRows(page, matrix);
  const column = activeColumn(page, matrix);
  drawTokenColumn(context, page, matrix.rows.labels, sizes, "right", sizes.left - 8, "query", rows);
  drawTokenColumn(
    context,
    page,
    matrix.columns.labels,
    sizes,
    "left",
    sizes.right + 8,
    "key",
    column === undefined ? [] : [column],
  );
  const chosen = lineFilter(page, matrix);
  const heads = matrix.per_head.length > 1 ? matrix.per_head.slice(0, MAX_LINE_HEADS) : [matrix.numbers];
  for (const strong of [false, true]) {
    heads.forEach((numbers, place) => {
      const head =
        heads.length > 1
          ? { colour: HEAD_COLOURS[place % HEAD_COLOURS.length], broken: place >= HEAD_COLOURS.length }
          : null;
      for (const row of matrix.rows.labels.keys())
        drawRowLines(context, page, matrix, sizes, { row, numbers, head, strong, chosen });
    });
  }
}

/**
 * Which lines are told apart from the rest: of the queries at hand, or those that end in the key under the pointer.
 * @param {Page} page @param {HeadMatrix} matrix @returns {LineFilter | null}
 */
function lineFilter(page, matrix) {
  const column = hoveredColumn(page, matrix);
  const hovered = page.state.pointer?.query !== null && page.state.pointer?.query !== undefined;
  const { pinned } = page.state.choice;
  if (!hovered && !pinned.length) return column === undefined ? null : (_, other) => other === column;
  const rows = new Set(activeRows(page, matrix));
  return (row, other) => rows.has(row) && (column === undefined || other === column);
}

/**
 * @param {CanvasRenderingContext2D} context @param {Page} page @param {string[]} names @param {LinesLayout} sizes
 * @param {CanvasTextAlign} align @param {number} x @param {string} title @param {number[]} hot
 */
function drawTokenColumn(context, page, names, sizes, align, x, title, hot) {
  context.textAlign = align;
  context.font = `600 ${11 * currentStyle(page).type}px ${currentStyle(page).font}`;
  context.fillStyle = currentStyle(page).quiet;
  context.fillText(title, x, 10 * currentStyle(page).type);
  const every = Math.max(Math.ceil((11 * currentStyle(page).type) / sizes.step), 1);
  names.forEach((name, line) => {
    const marked = hot.includes(line);
    if (line % every && !marked) return;
    context.font = `${marked ? "600 " : ""}${sizes.size}px ${currentStyle(page).font}`;
    context.fillStyle = marked ? currentStyle(page).ink : currentStyle(page).quiet;
    context.fillText(
      truncateText(context, inlineText(name), (align === "right" ? x : sizes.width - x) - 4),
      x,
      sizes.top + (line + 0.5) * sizes.step,
    );
  });
}

/**
 * The columns to which a row of one head has lines: all that are shown, or of a long text the strongest.
 * @param {HeadMatrix} matrix @param {number} row @param {Float32Array} numbers
 */
export function visibleKeys(matrix, row, numbers) {
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

/**
 * Every row's lines of one head, found once for each matrix.
 * @param {HeadMatrix} matrix @param {Float32Array} numbers
 */
function rowLines(matrix, numbers) {
  const known = linesOf(matrix);
  const found = known.get(numbers) ?? matrix.rows.labels.map((_, row) => visibleKeys(matrix, row, numbers));
  known.set(numbers, found);
  return found;
}

/**
 * All lines of one row of one head; in a first round the faint ones, in a second those that stand out.
 * @param {CanvasRenderingContext2D} context @param {Page} page @param {HeadMatrix} matrix @param {LinesLayout} sizes
 * @param {RowLines} options
 */
function drawRowLines(context, page, matrix, sizes, { row, numbers, head, strong, chosen }) {
  const from = sizes.top + (row + 0.5) * sizes.step;
  const middle = (sizes.left + sizes.right) / 2;
  context.setLineDash(head?.broken ? [4, 3] : []);
  for (const { column, number } of rowLines(matrix, numbers)[row]) {
    const strength = magnitude(matrix, number);
    if ((!chosen || chosen(row, column)) !== strong) continue;
    const to = sizes.top + (column + 0.5) * sizes.step;
    context.strokeStyle = head ? head.colour : matrix.signed && number < 0 ? NEGATIVE_COLOUR : currentStyle(page).beam;
    context.globalAlpha = Math.min(strength * 1.1, 1) * (strong ? 1 : FAINT);
    context.lineWidth = (0.5 + 3.5 * strength) * currentStyle(page).type;
    context.beginPath();
    context.moveTo(sizes.left, from);
    context.bezierCurveTo(middle, from, middle, to, sizes.right, to);
    context.stroke();
  }
  context.globalAlpha = 1;
  context.setLineDash([]);
}

/**
 * The token under the pointer: a query on the left and between the columns, a key on the right.
 * @param {Page} page @param {MouseEvent} event
 */
function lineTokenAt(page, event) {
  const { layout } = memory(page);
  const matrix = shownMatrix(page);
  if (!layout || !matrix) return null;
  const frame = page.view.elements.canvas.getBoundingClientRect();
  const line = Math.floor((event.clientY - frame.top - layout.top) / layout.step);
  const key = event.clientX - frame.left > layout.right;
  const { rows, columns } = matrix;
  if (line < 0 || line >= (key ? columns : rows).labels.length) return null;
  return key ? { query: null, key: columns.tokens[line][0] } : { query: rows.tokens[line][0], key: null };
}
