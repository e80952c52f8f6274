// A heat map, queries downwards and keys to the right, drawn by the same code on the screen and in files.

import { inlineText } from "../dom/dom.ts";
import { onArrows, VERTICAL_STEPS } from "../dom/keyboard.ts";
import type { CanvasStyle, Figure, Token } from "../types.ts";
import { addWords, textWidth } from "./figure_text.ts";
import { paintFigure } from "./paint_shapes.ts";

/** The top left corner of the cells, the size of a cell, the room for names beside and above, and their font size. */
export interface HeatmapLayout {
  rows: number;
  columns: number;
  x: number;
  y: number;
  width: number;
  height: number;
  left: number;
  top: number;
  size: number;
}

interface Heatmap {
  queries: Pick<Token, "text">[];
  keys: Pick<Token, "text">[];
  image: HTMLCanvasElement; // one pixel for each cell
  hot: { query: number | null; key?: number | null }; // the cell under the pointer
  style: CanvasStyle;
  rows?: (number | null)[]; // the rows to mark, if there are several
  tall?: number; // the maximal height
  ground?: boolean; // whether forbidden cells are grey instead of the page's colour
}

const [GAP, LINE] = [0.35, 1.02]; // between a name and the cells, and from a name to the next, in font sizes
const AXES = ["looks from i ↓"];
const ABOVE_AXES = 2.4; // height of the titles of both axes, in font sizes
const MOST_MEASURED = 400; // names
const [TALL, LINED] = [430, 9]; // pixels: tallest map that is not large, lowest cells with lines between them

/**
 * The names at the left of a map and above it: as many as there is room for, and always those of `hot`.
 * @param options `isTurned`: whether the names of columns are rotated, to be read upwards; `steps`: the first that is
 * named and from it the step to the next, of rows and of columns
 */
export function addNames(
  figure: Figure,
  layout: HeatmapLayout,
  rows: string[],
  columns: string[],
  options: {
    hot?: { rows: (number | null)[]; column?: number | null };
    fill?: string;
    isTurned?: boolean;
    steps?: number[][];
  } = {},
) {
  const { hot = { rows: [] }, fill = figure.look.ink, isTurned = true } = options;
  const { x, y, width, height, left, top, size } = layout;
  const gap = GAP * size;
  const steps = options.steps ?? nameSteps(layout, columns, isTurned).map((every) => [0, every]);
  const [isRowNamed, isColumnNamed] = steps.map(
    ([first, every]) =>
      (at: number) =>
        !((at - first) % every),
  );
  const style = (isHot: boolean) => ({ size, fill: isHot ? figure.look.ink : fill });
  rows.forEach((name, row) => {
    const isHot = hot.rows.includes(row);
    if (!isRowNamed(row) && !isHot) return;
    const place = { anchor: "end" as const, room: left - gap };
    addWords(figure, name, x - gap, y + (row + 0.5) * height + 0.35 * size, { ...style(isHot), ...place });
  });
  const turned = { anchor: "start" as const, room: top - gap, turn: -90 };
  const upright = { anchor: "middle" as const, room: columns.length * width };
  columns.forEach((name, column) => {
    const isHot = column === hot.column;
    const middle = x + (column + 0.5) * width;
    const isCut = !isTurned && middle + textWidth(name, size) / 2 > x + columns.length * width + size / 2;
    if ((!isColumnNamed(column) || isCut) && !isHot) return;
    if (isTurned) addWords(figure, name, middle + 0.35 * size, y - gap, { ...style(isHot), ...turned });
    else addWords(figure, name, middle, y - gap, { ...style(isHot), ...upright });
  });
}

/** The steps between named rows and between named columns, so that names do not overlap. */
export function nameSteps(
  { width, height, size }: Pick<HeatmapLayout, "width" | "height" | "size">,
  columns: string[],
  isTurned: boolean = true,
) {
  const across = isTurned ? size * LINE : longestName(columns, size) + size / 2;
  return [(size * LINE) / height, across / width].map((step) => Math.max(Math.ceil(step), 1));
}

export function longestName(names: string[], size: number) {
  return Math.max(...names.slice(0, MOST_MEASURED).map((name) => textWidth(name, size)), 0.8 * size);
}

/**
 * Lines in the background colour after every `lines.rows` rows and `lines.columns` columns (0: none), between cells.
 */
export function addLinesBetween(
  { shapes, look }: Figure,
  { rows, columns, x, y, width, height }: HeatmapLayout,
  lines: { rows: number; columns: number; thick: number },
) {
  const add = (points: number[]) =>
    shapes.push({ kind: "polyline", points, stroke: look.paper, stroke_width: lines.thick, opacity: 1, dashed: false });
  for (let row = lines.rows; row && row < rows; row += lines.rows)
    add([x, y + row * height, x + columns * width, y + row * height]);
  for (let column = lines.columns; column && column < columns; column += lines.columns)
    add([x + column * width, y, x + column * width, y + rows * height]);
}

/** Draws a map, at most `width` wide, and returns its layout. */
export function drawHeatmap(canvas: HTMLCanvasElement, width: number, picture: Heatmap) {
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

/** The titles of the axes in the corner: queries i and keys j. */
function addAxes(figure: Figure, { x, y, left, size }: HeatmapLayout) {
  const place = { size: 0.88 * size, fill: figure.look.quiet, anchor: "end" as const, room: left };
  addWords(figure, "looks at j →", x - GAP * size, y - 1.6 * size, place);
  addWords(figure, "looks from i ↓", x - GAP * size, y - 0.45 * size, place);
}

/** The layout of a map with these names of rows and columns. */
function layoutHeatmap([rows, columns]: string[][], width: number, { style, tall = TALL }: Heatmap): HeatmapLayout {
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

/** Frames the rows of the active queries, and the cell or the column under the pointer. */
function addMarks(
  { shapes, look }: Figure,
  { x, y, width, height, columns }: HeatmapLayout,
  rows: (number | null)[],
  key: number | null | undefined,
  thick: number,
) {
  for (const row of rows) {
    const line = { kind: "rectangle" as const, y: y + (row ?? 0) * height, height, stroke_width: thick };
    if (row !== null) shapes.push({ ...line, x, width: width * columns, stroke: look.beam });
    if (key !== null && key !== undefined) shapes.push({ ...line, x: x + key * width, width, stroke: look.ink });
  }
}

/**
 * The cell of a map under the pointer, or null.
 * @param sheet that contains the map @param scale the sheet's size on the screen, relative to its own units
 */
export function cellAtPointer(
  sheet: Element,
  map: Omit<HeatmapLayout, "left" | "top" | "size"> | null | undefined,
  event: MouseEvent,
  scale: number = 1,
) {
  if (!map) return null;
  const frame = sheet.getBoundingClientRect();
  const key = Math.floor(((event.clientX - frame.left) / scale - map.x) / map.width);
  const query = Math.floor(((event.clientY - frame.top) / scale - map.y) / map.height);
  const inside = key >= 0 && key < map.columns && query >= 0 && query < map.rows;
  return inside ? { query, key } : null;
}

export interface MapActions<Cell> {
  point: (cell: Cell | null) => void; // called with the cell under the pointer, or null
  choose: (cell: Cell) => void;
  step: (step: number) => void; // to the previous or next row
}

export function listenToMap<Cell>(
  canvas: HTMLCanvasElement,
  cellAt: (event: MouseEvent) => Cell | null,
  { point, choose, step }: MapActions<Cell>,
) {
  canvas.onmousemove = (event) => point(cellAt(event));
  canvas.onmouseleave = () => point(null);
  canvas.onclick = (event) => {
    const cell = cellAt(event);
    if (cell) choose(cell);
  };
  onArrows(canvas, VERTICAL_STEPS, step);
}
