// Parts of figures for print: maps with names beside them, colour scales, panels side by side.

import { inlineText } from "../dom/dom.ts";
import type { Box, Figure, Shape } from "../export/types.ts";
import { CIVIDIS, colour, hexColour, PURPLE_ORANGE } from "./colours.ts";
import { addLines, addTitle, LABEL_SIZE, PRINT_COLOURS, SCREEN_LOOK, textWidth, wrapText } from "./figure_text.ts";
import { addNames, longestName, nameSteps } from "./heatmap.ts";

type Axes = { down: string; across: string }; // what the rows and the columns stand for
type Point = { x: number; y: number };

export const GAP = 5; // between two panels
export const MARGIN = 2;
const SCALE = 10.4; // width of a colour scale, in font sizes
const MOST_NAME = 10.5; // length of a name above a map, in font sizes
const LARGE_NAMES = 16; // columns; with fewer, names are larger in a wide figure
const TURN = 0.42; // radians between an arrow's line and the sides of its head
const MIN_VECTOR_CELL = 1.3; // millimetres; cells at least this large are drawn one by one

/** A figure with its title, and the y coordinate below it. */
export function beginFigure(width: number, title: string, signed: boolean = false) {
  const figure: Figure = { width, height: 0, title, palette: colourNames(signed), shapes: [], look: PRINT_COLOURS };
  return { figure, y: addTitle(figure) };
}

/**
 * Panels side by side, in rows of about equal length; each panel draws itself into its box and returns its bottom edge.
 * @param most across @param frame of all, without its top
 */
export function addPanels(
  figure: Figure,
  y: number,
  panels: ((box: Box) => number)[],
  most: number,
  { x, width }: Omit<Box, "y"> = { x: MARGIN, width: figure.width - 2 * MARGIN },
) {
  const across = Math.ceil(panels.length / Math.ceil(panels.length / most)) || 1;
  const room = (width - (across - 1) * GAP) / across;
  for (let first = 0; first < panels.length; first += across) {
    const row = panels.slice(first, first + across);
    const ends = row.map((draw, place) => draw({ x: x + place * (room + GAP), y: y + 1, width: room }));
    y = Math.max(...ends) + 2;
  }
  return y;
}

/** A panel with a title above it. */
export function titled(figure: Figure, title: string, draw: (box: Box) => number): (box: Box) => number {
  return (box) => {
    const lines = wrapText(title, figure.look.size, box.width, true);
    const y = addLines(figure, lines, box.x, box.y, { bold: true });
    return draw({ ...box, y: y + 0.5 });
  };
}

/**
 * A drawing that was laid out in pixels, scaled to the font size of print, or smaller if it would not fit. Returns its
 * bottom edge.
 */
export function addDrawing(
  figure: Figure,
  { width, height, shapes }: Pick<Figure, "width" | "height" | "shapes">,
  box: Box,
) {
  const scale = Math.min(LABEL_SIZE / SCREEN_LOOK.size, box.width / width);
  addScaled(figure, { shapes }, scale, box);
  return box.y + height * scale;
}

/** The pixels in a box for such a drawing, so that it keeps the font size of print. */
export function roomOf({ width }: Box) {
  return (width / LABEL_SIZE) * SCREEN_LOOK.size;
}

/** @param corner its origin in the figure */
export function addScaled(figure: Figure, { shapes }: Pick<Figure, "shapes">, scale: number, corner: Point) {
  figure.shapes.push(...shapes.map((shape) => scaledShape(shape, scale, corner)));
}

function scaledShape(shape: Shape, scale: number, { x, y }: Point): Shape {
  if ("points" in shape) {
    const points = shape.points.map((value, place) => value * scale + (place % 2 ? y : x));
    return { ...shape, points, stroke_width: shape.stroke_width * scale };
  }
  const lengths = ["width", "height", "radius", "size", "text_width", "stroke_width", "left", "top", "gap"];
  const scaled = Object.entries(shape).map(([name, value]) => [name, lengths.includes(name) ? value * scale : value]);
  return { ...Object.fromEntries(scaled), x: x + shape.x * scale, y: y + shape.y * scale };
}

/** The head of an arrow, from one corner over the tip to the other. @param line ends at the tip @param side its length */
export function arrowHead(line: number[], side: number) {
  const [fromX, fromY, x, y] = line.slice(-4);
  const angle = Math.atan2(y - fromY, x - fromX);
  const corner = (turn: number) => [x - side * Math.cos(angle + turn), y - side * Math.sin(angle + turn)];
  return [...corner(TURN), x, y, ...corner(-TURN)];
}

/** The colours of 256 byte codes. */
export function colourNames(signed: boolean) {
  const scale = signed ? PURPLE_ORANGE : CIVIDIS;
  return Array.from({ length: 256 }, (_, code) =>
    code ? hexColour(colour((code - 1) / 254, scale)) : signed ? PRINT_COLOURS.ground : PRINT_COLOURS.paper,
  );
}

/** The gap between cells of a size; 0 if they are drawn as one picture. */
export function cellGap(cell: number) {
  return cell >= MIN_VECTOR_CELL ? Math.min(cell * 0.06, 0.25) : 0;
}

/**
 * A map of byte codes, rows downwards, with tokens beside and above it and titles of the axes. Returns its bottom edge.
 */
export function addHeatmap(
  figure: Figure,
  {
    rows,
    columns,
    axes,
    codes,
    signed = false,
    palette,
  }: { rows: string[]; columns: string[]; axes: Axes; codes: Uint8Array; signed?: boolean; palette?: string[] },
  box: Box,
) {
  const names = [rows, columns].map((tokens) => tokens.map(inlineText));
  const most = (columns.length < LARGE_NAMES ? 1 + box.width / 450 : 1) * LABEL_SIZE;
  const left = Math.min(longestName(names[0], most) + 1.2, box.width * 0.36);
  const top = Math.min(longestName(names[1], most) + 2, MOST_NAME * most);
  const largest = Math.max(7, box.width / 10); // so that a few tokens fill most of a wide figure
  const cell = Math.min((box.width - left) / columns.length, largest, 160 / rows.length);
  const counted = { rows: rows.length, columns: columns.length };
  const size = Math.min(most, Math.max(cell * 0.9, 1.6));
  const steps = nameSteps({ width: cell, height: cell, size }, names[1]);
  const titles = wrapText(axisTitles(axes, steps), LABEL_SIZE, box.width);
  const corner = { x: box.x + left, y: addLines(figure, titles, box.x, box.y, { fill: PRINT_COLOURS.quiet }) + top };
  addNames(figure, { ...counted, ...corner, width: cell, height: cell, left, top, size }, names[0], names[1]);
  const cells = { ...corner, width: cell * columns.length, height: cell * rows.length };
  if (signed) figure.shapes.push({ kind: "rectangle", ...cells, fill: PRINT_COLOURS.ground });
  const gap = cellGap(cell);
  figure.shapes.push({ kind: "heatmap", ...cells, ...counted, codes, gap, ...(palette && { palette }) });
  figure.shapes.push({ kind: "rectangle", ...cells, stroke: PRINT_COLOURS.line, stroke_width: PRINT_COLOURS.thin });
  return cells.y + cells.height;
}

/** The titles of both axes, and how many of their places have names. */
function axisTitles({ down, across }: Axes, steps: number[]) {
  const [rows, columns] = steps.map((step) => (step > 1 ? `, one in ${step} named` : ""));
  return `down: ${down}${rows === columns ? "" : rows} · across: ${across}${columns}`;
}

/** A colour scale with its ends and a description, within `width`. Returns the y coordinate of the next line. */
export function addColourScale(
  figure: Figure,
  { low, high, words, palette }: { low: string; high: string; words: string; palette?: string[] },
  x: number,
  y: number,
  width: number = figure.width - x,
) {
  const { size, quiet: fill } = figure.look;
  const from = x + textWidth(low, size) + 0.4 * size;
  const end = from + SCALE * size;
  addLines(figure, [low], x, y, { fill });
  const codes = Uint8Array.from({ length: 128 }, (_, place) => 1 + place * 2);
  const strip = {
    x: from,
    y: y + 0.3 * size,
    width: end - from,
    height: 0.8 * size,
    rows: 1,
    columns: 128,
    codes,
    gap: 0,
  };
  figure.shapes.push({ kind: "heatmap", ...strip, ...(palette && { palette }) });
  const lines = wrapText(words ? `${high}  ${words}` : high, size, x + width - end - size);
  return addLines(figure, lines, end + 0.4 * size, y, { fill });
}
