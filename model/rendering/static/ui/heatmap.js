// A map, queries downwards and keys to the right. What it shows is all in its argument.

import { context2d, hidpiContext, inlineText, truncateText } from "./dom.js";

/** @import { CanvasStyle, Token } from "../types.js" */

/**
 * @typedef {object} Heatmap
 * @property {Pick<Token, "text">[]} queries
 * @property {Pick<Token, "text">[]} keys
 * @property {HTMLCanvasElement} image one pixel a cell
 * @property {number} alpha
 * @property {{ query: number | null, key?: number | null }} hot the cell under the pointer
 * @property {CanvasStyle} style
 * @property {(number | null)[]} [rows] the rows to mark, where there are several
 * @property {number} [tall] how high it may be
 * @property {boolean} [ground] whether forbidden cells are grey, not of the page's colour
 */

/**
 * Where everything is.
 * @typedef {{ rows: number, columns: number, size: number, left: number, top: number, cell: number }} HeatmapLayout
 */

/** @param {CanvasRenderingContext2D} context @param {Heatmap} options @param {number} width */
function layoutHeatmap(context, { queries, keys, style, tall = 430 }, width) {
  const rows = queries.length;
  const columns = keys.length;
  const size = (rows > 28 || columns > 28 ? 10 : tall > 430 ? 14 : 12) * style.type;
  context.font = `${size}px ${style.font}`;
  /** @param {Pick<Token, "text">[]} tokens */
  const longest = (tokens) => Math.max(...tokens.map((token) => context.measureText(inlineText(token.text)).width), 8);
  const left = Math.min(
    longest(queries) + 12,
    width * (style.type > 1 ? 0.32 : 0.26),
    (tall > 430 ? 150 : 110) * style.type,
  );
  const top = Math.min(longest(keys) + 10, style.type > 1 ? 92 : 84);
  const cell = Math.min(
    (width - left - 2) / columns,
    Math.max(tall - top, style.type > 1 ? 170 : 240) / Math.max(rows, columns / 1.6),
    tall > 430 ? 56 : 40,
  );
  return { rows, columns, size, left, top, cell };
}

/**
 * Draws a map as wide as it may be, and hands back where everything is.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {Heatmap} picture
 */
export function drawHeatmap(canvas, width, picture) {
  const map = layoutHeatmap(context2d(canvas), picture, width);
  const context = hidpiContext(canvas, width, Math.ceil(map.top + map.cell * map.rows + 4));
  context.imageSmoothingEnabled = false;
  if (picture.ground) {
    context.fillStyle = picture.style.raised;
    context.fillRect(map.left, map.top, map.cell * map.columns, map.cell * map.rows);
  }
  context.globalAlpha = picture.alpha;
  context.drawImage(picture.image, map.left, map.top, map.cell * map.columns, map.cell * map.rows);
  context.globalAlpha = 1;
  drawCellGaps(context, map, picture);
  drawAxisLabels(context, map, picture);
  drawCellMarks(context, map, picture);
  return map;
}

/**
 * Thin lines of the background between large cells, so that single weights can be told apart.
 * @param {CanvasRenderingContext2D} context @param {HeatmapLayout} map @param {Heatmap} options
 */
function drawCellGaps(context, map, { style }) {
  if (map.cell < 9) return;
  context.fillStyle = style.surface;
  for (let row = 1; row < map.rows; row++)
    context.fillRect(map.left, map.top + row * map.cell - 0.5, map.cell * map.columns, 1);
  for (let key = 1; key < map.columns; key++)
    context.fillRect(map.left + key * map.cell - 0.5, map.top, 1, map.cell * map.rows);
}

/** @param {CanvasRenderingContext2D} context @param {HeatmapLayout} map @param {Heatmap} options */
function drawAxisLabels(context, map, { queries, keys, hot, rows = [hot.query], style }) {
  const every = Math.max(Math.ceil((map.size + 1) / map.cell), 1);
  context.font = `${map.size}px ${style.font}`;
  context.textBaseline = "middle";
  queries.forEach((token, row) => {
    if (row % every && !rows.includes(row)) return;
    context.textAlign = "right";
    context.fillStyle = rows.includes(row) ? style.ink : style.quiet;
    context.fillText(
      truncateText(context, inlineText(token.text), map.left - 10),
      map.left - 6,
      map.top + (row + 0.5) * map.cell,
    );
  });
  keys.forEach((token, key) => {
    if (key % every && key !== hot.key) return;
    context.save();
    context.translate(map.left + (key + 0.5) * map.cell, map.top - 6);
    context.rotate(-Math.PI / 2);
    context.textAlign = "left";
    context.fillStyle = key === hot.key ? style.ink : style.quiet;
    context.fillText(truncateText(context, inlineText(token.text), map.top - 8), 0, 0);
    context.restore();
  });
}

/**
 * Frames the rows of the queries at hand, and the cell or the column under the pointer.
 * @param {CanvasRenderingContext2D} context @param {HeatmapLayout} map @param {Heatmap} options
 */
function drawCellMarks(context, map, { hot, rows = [hot.query], style }) {
  context.lineWidth = 1.5 * style.type;
  context.strokeStyle = style.beam;
  for (const row of rows) {
    if (row !== null) context.strokeRect(map.left, map.top + row * map.cell, map.cell * map.columns, map.cell);
  }
  if (hot.key === null || hot.key === undefined) return;
  context.strokeStyle = style.ink;
  for (const row of rows)
    context.strokeRect(map.left + hot.key * map.cell, map.top + (row ?? 0) * map.cell, map.cell, map.cell);
}

/**
 * Which cell of a map lies under the pointer, or null.
 * @param {HTMLCanvasElement} canvas @param {HeatmapLayout | null | undefined} map @param {MouseEvent} event
 */
export function cellAtPointer(canvas, map, event) {
  if (!map) return null;
  const frame = canvas.getBoundingClientRect();
  const key = Math.floor((event.clientX - frame.left - map.left) / map.cell);
  const query = Math.floor((event.clientY - frame.top - map.top) / map.cell);
  const inside = key >= 0 && key < map.columns && query >= 0 && query < map.rows;
  return inside ? { query, key } : null;
}
