// A matrix too large for numbers: coloured cells, and the number of the cell under the pointer; the same in files.

import { largestSize } from "../charts/charts.ts";
import { CIVIDIS, PURPLE_ORANGE } from "../charts/colours.ts";
import { addWords, beginSheet, PRINT_SHEET } from "../charts/figure_text.ts";
import type { HeatmapLayout } from "../charts/heatmap.ts";
import { addLinesBetween, addNames, cellAtPointer, longestName, nameSteps } from "../charts/heatmap.ts";
import { ticks } from "../charts/scale.ts";
import { addColourScale, addDrawing, colourNames, roomOf } from "../charts/shapes.ts";
import { figureSheet } from "../charts/svg.ts";
import { createElement } from "../dom/dom.ts";
import { formatNumber } from "../dom/numbers.ts";
import type { Box, Figure } from "../export/types.ts";
import type { HeatMapView, Numeric, Surroundings } from "./types.ts";

type Layout = HeatmapLayout & { names: string[][]; isTurned: boolean }; // names of rows and columns
type Extent = { low: number; high: number }; // the numbers of the first and the last colour

const [LARGE, SMALL, LARGE_OF_PAGE] = [
  { widest: 600, tallest: 420 },
  { widest: 240, tallest: 200 },
  { widest: 600, tallest: 560 },
];
const [LARGEST_CELL, LINE, SIZE] = [18, 14, 12]; // pixels: of a cell, of a line of text, of the font
const APART = 40; // pixels from one of many round numbers to the next
const LONGEST_NAME = 84; // pixels
const LEAST_LINED = 12; // pixels; smaller cells have no lines around them
const MOST_UPRIGHT = 1.5; // largest ratio of a cell's height to its width
const MARGIN = 2; // at the right of the cells
const NO_NUMBER = "#808080";

export function createHeatMap(view: HeatMapView, { width, isPage }: Surroundings) {
  const reach = extentOf(view);
  const layout = layoutCells(view, width, isPage);
  const figure = drawCells(view, layout, reach);
  const sheet = figureSheet(figure);
  const box = createElement("div", "chart heat-map");
  box.style.width = `${figure.width}px`;
  const readout = createElement("p", "quiet readout", words(reach));
  sheet.addEventListener("mousemove", (event) => {
    const scale = sheet.getBoundingClientRect().width / figure.width;
    const cell = cellAtPointer(sheet, layout, event as MouseEvent, scale);
    readout.textContent = cell ? describeCell(view, layout, cell) : words(reach);
  });
  box.onmouseleave = () => {
    readout.textContent = words(reach);
  };
  box.append(sheet, createScale(view.colours), readout);
  return box;
}

/** The cells with the scale of their colours. Returns the bottom edge. */
export function addHeatMap(figure: Figure, view: HeatMapView, box: Box) {
  const reach = extentOf(view);
  const layout = layoutCells(view, roomOf(box));
  const y = addDrawing(figure, drawCells(view, layout, reach, PRINT_SHEET), box);
  const isSigned = view.colours === "signed";
  const [low, high] = [reach.low, reach.high].map((number) => formatNumber(number, 3));
  const scale = { low, high, words: isSigned ? "white at zero" : "", palette: colourNames(isSigned) };
  return addColourScale(figure, scale, box.x, y, box.width);
}

function extentOf({ values, colours, low, high }: HeatMapView): Extent {
  if (colours === "weights") return { low: 0, high: 1 };
  if (colours !== "signed") return { low, high: high ?? largestNumber(values.flat(), low) };
  const size = largestSize(values.flat());
  return { low: -size, high: size };
}

/** The largest finite number, at least `least`. */
function largestNumber(values: Numeric[], least: number) {
  return values.map(Number).reduce((most, value) => (value > most && value < Infinity ? value : most), least);
}

/** The range of the colours, in words. */
function words({ low, high }: Extent) {
  return `from ${formatNumber(low, 3)} to ${formatNumber(high, 3)}`;
}

/** @param room the available width in pixels */
function layoutCells(
  { values, rows, columns, row_axis, column_axis, is_small }: HeatMapView,
  room: number,
  isPage: boolean = false,
): Layout {
  const { widest, tallest } = is_small ? SMALL : isPage ? LARGE_OF_PAGE : LARGE;
  const [down, across] = [values.length, values[0]?.length ?? 0];
  const names = [named(rows, down), columns.length || column_axis ? named(columns, across) : []];
  const longest = names.map((side) => longestName(side, SIZE));
  const left = Math.min(longest[0], LONGEST_NAME) + 8;
  const side = (room: number, count: number, largest = LARGEST_CELL) =>
    Math.min(largest, Math.max(room, LINE) / Math.max(count, 1));
  const whole = Math.min(widest, room); // scaling it down afterwards would shrink its labels, too
  const tall = side((tallest * whole) / widest, down);
  const isDense = !rows.length && tall < LARGEST_CELL; // few columns of many rows are together as wide as high
  const widestCell = isDense ? Math.max(LARGEST_CELL, (down * tall) / Math.max(across, 1)) : LARGEST_CELL;
  const wide = side(whole - left - MARGIN, across, widestCell);
  const isSquare = down === across;
  const width = isSquare ? Math.min(wide, tall) : wide;
  const upright = rows.length ? tall : Math.min(tall, MOST_UPRIGHT * width); // rows without names need less height
  const height = isSquare ? width : upright;
  const isTurned = columns.some(isWord) && width >= LINE - 2 && longest[1] + 6 > width;
  const top = isTurned ? Math.min(longest[1], LONGEST_NAME) + 6 : names[1].length || row_axis ? LINE : 0;
  const y = (column_axis ? LINE : 0) + top + 4;
  return { rows: down, columns: across, x: left, y, width, height, left, top, size: SIZE, names, isTurned };
}

function drawCells(
  { values, colours, row_axis, column_axis, row_groups, column_groups }: HeatMapView,
  layout: Layout,
  reach: Extent,
  look?: Figure["look"],
) {
  const { rows, columns, x, y, width, height, names, isTurned } = layout;
  const figure = beginSheet(x + columns * width + MARGIN, `${rows} × ${columns} numbers ${words(reach)}`, look);
  figure.height = y + rows * height + MARGIN;
  const palette = colourNames(colours === "signed").with(0, NO_NUMBER);
  const codes = Uint8Array.from(values.flat(), (value) => codeOf(Number(value), reach));
  const cells = { x, y, width: columns * width, height: rows * height };
  figure.shapes.push({ kind: "heatmap", ...cells, rows, columns, codes, gap: 0, palette });
  const fill = figure.look.quiet;
  addNames(figure, layout, names[0], names[1], { isTurned, fill, steps: stepsOf(layout) });
  if (Math.min(width, height) >= LEAST_LINED) addLinesBetween(figure, layout, { rows: 1, columns: 1, thick: 1 });
  addLinesBetween(figure, layout, { rows: row_groups, columns: column_groups, thick: 2 });
  const title = { anchor: "start" as const, room: figure.width, size: SIZE, fill };
  const [down, across] = [row_axis && `${row_axis} ↓`, column_axis && `${column_axis} →`];
  if (across) addWords(figure, across, Math.max(x, down ? longestName([down], SIZE) + LINE : 0), 10, title);
  if (down) addWords(figure, down, 0, across ? 10 : y - 4, title);
  return figure;
}

/** From which place on and how often rows and columns are named. */
function stepsOf({ names, isTurned, ...layout }: Layout) {
  const every = nameSteps(layout, names[1], isTurned);
  return [layout.height, layout.width].map((side, axis) => roundSteps(names[axis], every[axis], side));
}

/**
 * Of names that are numbers in equal steps, for which there is no room, only round ones. Returns the first and the
 * step.
 * @param every so often is there room for one @param side of a cell
 */
function roundSteps(names: string[], every: number, side: number) {
  const [start, next, ...others] = names.map((name) => Number(name.replace("−", "-")));
  const isEven = others.every((number, place) => number === start + (place + 2) * (next - start));
  if (every < 2 || !isEven) return [0, every];
  const end = others.at(-1) ?? next;
  const [first, second] = ticks(start, end, (names.length * side) / APART).map(
    (mark) => (mark - start) / (next - start),
  );
  return [first, second - first].every(Number.isInteger) ? [first, second - first] : [0, every];
}

function codeOf(value: number, { low, high }: Extent) {
  if (!Number.isFinite(value)) return 0;
  return 1 + Math.round(254 * Math.min(Math.max((value - low) / (high - low || 1), 0), 1));
}

/** Whether a label is not a number; a missing number is obvious from its neighbours. */
function isWord(name: string) {
  return !/^[−\d\s]*$/.test(name);
}

/** @param count unnamed ones are numbered */
function named(names: string[], count: number) {
  return Array.from({ length: count }, (_, index) => names[index]?.trim() || names[index] || String(index));
}

function describeCell(
  { values, rows, columns, row_axis, column_axis }: HeatMapView,
  layout: Layout,
  { query, key }: { query: number; key: number },
) {
  const place = [
    `${row_axis || "row"} ${named(rows, layout.rows)[query]}`,
    `${column_axis || "column"} ${named(columns, layout.columns)[key]}`,
  ];
  return `${place.join(", ")}: ${formatNumber(Number(values[query][key]))}`;
}

/** The colours from the lowest to the highest number. */
function createScale(colours: HeatMapView["colours"]) {
  const scale = createElement("div", "colour-scale");
  const stops = (colours === "signed" ? PURPLE_ORANGE : CIVIDIS).map((ink) => `rgb(${ink.join(" ")})`);
  scale.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  return scale;
}
