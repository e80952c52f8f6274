// A heat map, queries downwards and keys to the right, drawn by the same code on the screen and in files.

import { inlineText } from "../dom/dom.js";
import { onArrows, VERTICAL_STEPS } from "../dom/keyboard.js";
import { addWords, textWidth } from "./figure_text.js";
import { paintFigure } from "./paint_shapes.js";

/** @import { CanvasStyle, Figure, Token } from "../types.js" */

/**
 * The top left corner of the cells, the size of a cell, the room for names beside and above, and their font size.
 * @typedef {object} HeatmapLayout
 * @property {number} rows @property {number} columns @property {number} x @property {number} y
 * @property {number} width @property {number} height @property {number} left @property {number} top @property {number} size
 */

/**
 * @typedef {object} Heatmap
 * @property {Pick<Token, "text">[]} queries
 * @property {Pick<Token, "text">[]} keys
 * @property {HTMLCanvasElement} image one pixel for each cell
 * @property {{ query: number | null, key?: number | null }} hot the cell under the pointer
 * @property {CanvasStyle} style
 * @property {(number | null)[]} [rows] the rows to mark, if there are several
 * @property {number} [tall] the maximal height
 * @property {boolean} [ground] whether forbidden cells are grey instead of the page's colour
 */

const [GAP, LINE] = [0.35, 1.02]; // between a name and the cells, and from a name to the next, in font sizes
const AXES = ["looks from i ↓"];
const ABOVE_AXES = 2.4; // height of the titles of both axes, in font sizes
const MOST_MEASURED = 400; // names
const [TALL, LINED] = [430, 9]; // pixels: tallest map that is not large, lowest cells with lines between them

/**
 * The names at the left of a map and above it: as many as there is room for, and always those of `hot`.
 * @param {Figure} figure @param {HeatmapLayout} layout @param {string[]} rows @param {string[]} columns
 * @param {{ hot?: { rows: (number | null)[], column?: number | null }, fill?: string, isTurned?: boolean, steps?: number[][] }} [options]
 * `isTurned`: whether the names of columns are rotated, to be read upwards; `steps`: the first that is named and from it
 * the step to the next, of rows and of columns
 */
export function addNames(figure, layout, rows, columns, options = {}) {
  const { hot = { rows: [] }, fill = figure.look.ink, isTurned = true } = options;
  const { x, y, width, height, left, top, size } = layout;
  const gap = GAP * size;
  const steps = options.steps ?? nameSteps(layout, columns, isTurned).map((every) => [0, every]);
  const [isRowNamed, isColumnNamed] = steps.map(
    ([first, every]) =>
      (/** @type {number} */ at) =>
        !((at - first) % every),
  );
  const style = (/** @type {boolean} */ isHot) => ({ size, fill: isHot ? figure.look.ink : fill });
  rows.forEach((name, row) => {
    const isHot = hot.rows.includes(row);
    if (!isRowNamed(row) && !isHot) return;
    const place = { anchor: /** @type {const} */ ("end"), room: left - gap };
    addWords(figure, name, x - gap, y + (row + 0.5) * height + 0.35 * size, { ...style(isHot), ...place });
  });
  const turned = { anchor: /** @type {const} */ ("start"), room: top - gap, turn: -90 };
  const upright = { anchor: /** @type {const} */ ("middle"), room: columns.length * width };
  columns.forEach((name, column) => {
    const isHot = column === hot.column;
    const middle = x + (column + 0.5) * width;
    const isCut = !isTurned && middle + textWidth(name, size) / 2 > x + columns.length * width + size / 2;
    if ((!isColumnNamed(column) || isCut) && !isHot) return;
    if (isTurned) addWords(figure, name, middle + 0.35 * size, y - gap, { ...style(isHot), ...turned });
    else addWords(figure, name, middle, y - gap, { ...style(isHot), ...upright });
  });
}

/**
 * The steps between named rows and between named columns, so that names do not overlap.
 * @param {Pick<HeatmapLayout, "width" | "height" | "size">} layout @param {string[]} columns @param {boolean} [isTurned]
 */
export function nameSteps({ width, height, size }, columns, isTurned = true) {
  const across = isTurned ? size * LINE : longestName(columns, size) + size / 2;
  return [(size * LINE) / height, across / width].map((step) => Math.max(Math.ceil(step), 1));
}

/** @param {string[]} names @param {number} size */
export function longestName(names, size) {
  return Math.max(...names.slice(0, MOST_MEASURED).map((name) => textWidth(name, size)), 0.8 * size);
}

/**
 * Lines in the background colour after every `lines.rows` rows and `lines.columns` columns (0: none), between cells.
 * @param {Figure} figure @param {HeatmapLayout} layout @param {{ rows: number, columns: number, thick: number }} lines
 */
export function addLinesBetween({ shapes, look }, { rows, columns, x, y, width, height }, lines) {
  const add = (/** @type {number[]} */ points) =>
    shapes.push({ kind: "polyline", points, stroke: look.paper, stroke_width: lines.thick, opacity: 1, dashed: false });
  for (let row = lines.rows; row && row < rows; row += lines.rows)
    add([x, y + row * height, x + columns * width, y + row * height]);
  for (let column = lines.columns; column && column < columns; column += lines.columns)
    add([x + column * width, y, x + column * width, y + rows * height]);
}

/**
 * Draws a map, at most `width` wide, and returns its layout.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {Heatmap} picture
 */
export function drawHeatmap(canvas, width, picture) {
  const { queries, keys, hot, rows = [hot.query], style, image } = picture;
  const names = [queries, keys].map((tokens) => tokens.map(({ text }) => inlineText(text)));
  const layout = layoutHeatmap(names, width, picture);
  const { x, y, height } = layout;
  const cells = { x, y, width: layout.width * keys.length, height: height * queries.length };
  const shape = { rows: queries.length, columns: keys.length, codes: new Uint8Array(), gap: 0, image };
  paintFigure(canvas, width, style, (figure) => {
    if (picture.ground) figure.shapes.push({ kind: "rectangle", ...cells, fill: style.raised });
    figure.shapes.push({ kind: "heatmap", ...cells, ...shape });
    if (height >= LINED) addLinesBetween(figure, layout, { rows: 1, columns: 1, thick: 1 });
    addNames(figure, layout, names[0], names[1], { hot: { rows, column: hot.key }, fill: style.quiet });
    addAxes(figure, layout);
    addMarks(figure, layout, rows, hot.key, 1.5 * style.type);
    return Math.ceil(y + height * queries.length + 4);
  });
  return layout;
}

/** The titles of the axes in the corner: queries i and keys j. @param {Figure} figure @param {HeatmapLayout} layout */
function addAxes(figure, { x, y, left, size }) {
  const place = { size: 0.88 * size, fill: figure.look.quiet, anchor: /** @type {const} */ ("end"), room: left };
  addWords(figure, "looks at j →", x - GAP * size, y - 1.6 * size, place);
  addWords(figure, "looks from i ↓", x - GAP * size, y - 0.45 * size, place);
}

/** @param {string[][]} names of rows and columns @param {number} width @param {Heatmap} picture @returns {HeatmapLayout} */
function layoutHeatmap([rows, columns], width, { style, tall = TALL }) {
  const isLarge = tall > TALL;
  const size = (rows.length > 28 || columns.length > 28 ? 10 : isLarge ? 14 : 12) * style.type;
  const projected = style.type > 1;
  const most = Math.min(width * (projected ? 0.32 : 0.26), (isLarge ? 150 : 110) * style.type);
  const axes = longestName(AXES, 0.88 * size);
  const left = Math.max(Math.min(Math.max(longestName(rows, size), axes) + 12, most), axes + GAP * size + 2);
  const top = Math.min(Math.max(longestName(columns, size) + 10, ABOVE_AXES * size), projected ? 92 : 84);
  const cell = Math.min(
    (width - left - 2) / columns.length,
    Math.max(tall - top, projected ? 170 : 200) / Math.max(rows.length, columns.length / 1.6),
    projected ? 90 : isLarge ? 56 : 40,
  );
  const counted = { rows: rows.length, columns: columns.length };
  return { ...counted, x: left, y: top, width: cell, height: cell, left, top, size };
}

/**
 * Frames the rows of the active queries, and the cell or the column under the pointer.
 * @param {Figure} figure @param {HeatmapLayout} layout @param {(number | null)[]} rows @param {number | null | undefined} key
 * @param {number} thick
 */
function addMarks({ shapes, look }, { x, y, width, height, columns }, rows, key, thick) {
  for (const row of rows) {
    const line = { kind: /** @type {const} */ ("rectangle"), y: y + (row ?? 0) * height, height, stroke_width: thick };
    if (row !== null) shapes.push({ ...line, x, width: width * columns, stroke: look.beam });
    if (key !== null && key !== undefined) shapes.push({ ...line, x: x + key * width, width, stroke: look.ink });
  }
}

/**
 * The cell of a map under the pointer, or null.
 * @param {Element} sheet that contains the map @param {Omit<HeatmapLayout, "left" | "top" | "size"> | null | undefined} map @param {MouseEvent} event
 * @param {number} [scale] the sheet's size on the screen, relative to its own units
 */
export function cellAtPointer(sheet, map, event, scale = 1) {
  if (!map) return null;
  const frame = sheet.getBoundingClientRect();
  const key = Math.floor(((event.clientX - frame.left) / scale - map.x) / map.width);
  const query = Math.floor(((event.clientY - frame.top) / scale - map.y) / map.height);
  const inside = key >= 0 && key < map.columns && query >= 0 && query < map.rows;
  return inside ? { query, key } : null;
}

/**
 * @template Cell @typedef {object} MapActions
 * @property {(cell: Cell | null) => void} point called with the cell under the pointer, or null
 * @property {(cell: Cell) => void} choose
 * @property {(step: number) => void} step to the previous or next row
 */

/**
 * @template Cell @param {HTMLCanvasElement} canvas @param {(event: MouseEvent) => Cell | null} cellAt
 * @param {MapActions<Cell>} actions
 */
export function listenToMap(canvas, cellAt, { point, choose, step }) {
  canvas.onmousemove = (event) => point(cellAt(event));
  canvas.onmouseleave = () => point(null);
  canvas.onclick = (event) => {
    const cell = cellAt(event);
    if (cell) choose(cell);
  };
  onArrows(canvas, VERTICAL_STEPS, step);
}
