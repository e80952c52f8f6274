// A matrix too large for numbers: coloured cells, and the number of the cell under the pointer.

import { formatNumber } from "../charts/charts.js";
import { CIVIDIS, PURPLE_ORANGE } from "../charts/colours.js";
import { addWords, beginSheet } from "../charts/figure_text.js";
import { addLinesBetween, addNames, cellAtPointer, longestName } from "../charts/heatmap.js";
import { colourNames } from "../charts/shapes.js";
import { figureSheet } from "../charts/svg.js";
import { createElement } from "../dom/dom.js";
import { largestSize } from "./numbers.js";

/** @import { HeatmapLayout } from "../charts/heatmap.js" */
/** @import { HeatMapView } from "./types.js" */
/** @typedef {HeatmapLayout & { names: string[][], isTurned: boolean }} Layout names of rows and columns */

const [LARGE, SMALL] = [
  { widest: 600, tallest: 420 },
  { widest: 240, tallest: 200 },
];
const [LARGEST_CELL, LINE, SIZE] = [18, 14, 11]; // pixels: of a cell, of a line of text, of the font
const LONGEST_NAME = 84; // pixels
const LEAST_LINED = 12; // pixels; smaller cells have no lines around them
const MOST_UPRIGHT = 1.5; // largest ratio of a cell's height to its width
const MARGIN = 2; // at the right of the cells
const NO_NUMBER = "#808080";

/** @param {HeatMapView} view @param {number} room the available width in pixels */
export function createHeatMap(view, room) {
  const reach = view.colours === "weights" ? 1 : largestSize(view.values.flat());
  const layout = layoutCells(view, room);
  const figure = drawCells(view, layout, reach);
  const sheet = figureSheet(figure);
  const box = createElement("div", "chart heat-map");
  box.style.width = `${figure.width}px`;
  const readout = createElement("p", "quiet readout", extent(view, reach));
  sheet.addEventListener("mousemove", (event) => {
    const scale = sheet.getBoundingClientRect().width / figure.width;
    const cell = cellAtPointer(sheet, layout, /** @type {MouseEvent} */ (event), scale);
    readout.textContent = cell ? describeCell(view, layout, cell) : extent(view, reach);
  });
  box.onmouseleave = () => {
    readout.textContent = extent(view, reach);
  };
  box.append(sheet, createScale(view.colours), readout);
  return box;
}

/** The range of the colours, in words. @param {Pick<HeatMapView, "colours">} view @param {number} reach */
function extent({ colours }, reach) {
  if (colours !== "signed") return `from 0 to ${formatNumber(reach, 3)}`;
  return `from ${formatNumber(-reach, 3)} to ${formatNumber(reach, 3)}`;
}

/** @param {HeatMapView} view @param {number} room @returns {Layout} */
function layoutCells({ values, rows, columns, row_axis, column_axis, is_small }, room) {
  const { widest, tallest } = is_small ? SMALL : LARGE;
  const [down, across] = [values.length, values[0]?.length ?? 0];
  const names = [named(rows, down), columns.length || column_axis ? named(columns, across) : []];
  const longest = names.map((side) => longestName(side, SIZE));
  const left = Math.min(longest[0], LONGEST_NAME) + 8;
  const side = (/** @type {number} */ room, /** @type {number} */ count) =>
    Math.min(LARGEST_CELL, Math.max(1, room / Math.max(count, 1)));
  const whole = Math.min(widest, room); // scaling it down afterwards would shrink its labels, too
  const width = side(whole - left - MARGIN, across);
  const tall = side((tallest * whole) / widest, down);
  const height = rows.length ? tall : Math.min(tall, MOST_UPRIGHT * width); // rows without names need less height
  const isTurned = columns.some(isWord) && width >= LINE - 2 && longest[1] + 6 > width;
  const top = isTurned ? Math.min(longest[1], LONGEST_NAME) + 4 : names[1].length || row_axis ? LINE : 0;
  const y = (column_axis ? LINE : 0) + top + 4;
  return { rows: down, columns: across, x: left, y, width, height, left, top, size: SIZE, names, isTurned };
}

/** @param {HeatMapView} view @param {Layout} layout @param {number} reach */
function drawCells({ values, colours, row_axis, column_axis, row_groups, column_groups }, layout, reach) {
  const { rows, columns, x, y, width, height, names, isTurned } = layout;
  const figure = beginSheet(x + columns * width + MARGIN, `${rows} × ${columns} numbers ${extent({ colours }, reach)}`);
  figure.height = y + rows * height + MARGIN;
  const palette = colourNames(colours === "signed").with(0, NO_NUMBER);
  const codes = Uint8Array.from(values.flat(), (value) => codeOf(Number(value) / reach, colours));
  const cells = { x, y, width: columns * width, height: rows * height };
  figure.shapes.push({ kind: "heatmap", ...cells, rows, columns, codes, gap: 0, palette });
  const fill = figure.look.quiet;
  addNames(figure, layout, names[0], names[1], { isTurned, fill });
  if (Math.min(width, height) >= LEAST_LINED) addLinesBetween(figure, layout, { rows: 1, columns: 1, thick: 1 });
  addLinesBetween(figure, layout, { rows: row_groups, columns: column_groups, thick: 2 });
  const title = { anchor: /** @type {const} */ ("start"), room: figure.width, size: SIZE, fill };
  const [down, across] = [row_axis && `${row_axis} ↓`, column_axis && `${column_axis} →`];
  if (across) addWords(figure, across, Math.max(x, down ? longestName([down], SIZE) + LINE : 0), 10, title);
  if (down) addWords(figure, down, 0, across ? 10 : y - 4, title);
  return figure;
}

/** @param {number} share of the largest number @param {HeatMapView["colours"]} colours */
function codeOf(share, colours) {
  if (!Number.isFinite(share)) return 0;
  const place = colours === "signed" ? (share + 1) / 2 : share;
  return 1 + Math.round(254 * Math.min(Math.max(place, 0), 1));
}

/** Whether a label is not a number; a missing number is obvious from its neighbours. @param {string} name */
function isWord(name) {
  return !/^[\d\s]*$/.test(name);
}

/** @param {string[]} names @param {number} count unnamed ones are numbered */
function named(names, count) {
  return Array.from({ length: count }, (_, index) => names[index]?.trim() || names[index] || String(index));
}

/** @param {HeatMapView} view @param {Layout} layout @param {{ query: number, key: number }} cell */
function describeCell({ values, rows, columns, row_axis, column_axis }, layout, { query, key }) {
  const place = [
    `${row_axis || "row"} ${named(rows, layout.rows)[query]}`,
    `${column_axis || "column"} ${named(columns, layout.columns)[key]}`,
  ];
  return `${place.join(", ")}: ${formatNumber(Number(values[query][key]))}`;
}

/** The colours from the lowest to the highest number. @param {HeatMapView["colours"]} colours */
function createScale(colours) {
  const scale = createElement("div", "colour-scale");
  const stops = (colours === "signed" ? PURPLE_ORANGE : CIVIDIS).map((ink) => `rgb(${ink.join(" ")})`);
  scale.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  return scale;
}
