// A matrix too large for numbers: coloured cells, and the number of the one that is pointed at.

import { formatNumber } from "../../../../model/rendering/static/ui/charts.js";
import { CIVIDIS, colour, PURPLE_ORANGE } from "../../../../model/rendering/static/ui/colours.js";
import { context2d, createElement, onHover } from "../../../../model/rendering/static/ui/dom.js";
import { largestSize } from "./drawing/numbers.js";
import { createSheet, svg } from "./drawing/svg.js";

/** @import { HeatMapPicture } from "../types.d.ts" */
/**
 * The cells in pixels; where `isTurned`, the columns' labels are written upwards.
 * @typedef {{ rows: number, columns: number, width: number, height: number, left: number, top: number, isTurned: boolean }} Layout
 */

const [LARGE, SMALL] = [
  { widest: 600, tallest: 420 },
  { widest: 240, tallest: 200 },
];
const [LARGEST_CELL, LINE] = [18, 14];
const MOST_LETTERS = 12; // of a label
const LEAST_LINED = 12; // pixels of a cell that has lines around it
const [LETTER, MARGIN] = [7, 2]; // about as wide as one of a label; at the right of the cells

/** @param {HeatMapPicture} picture @param {number} room that it has, in pixels */
export function createHeatMap(picture, room) {
  const { values, colours } = picture;
  const reach = colours === "weights" ? 1 : largestSize(values.flat());
  const layout = layoutCells(picture, room);
  const { rows, columns, width, height, left, top } = layout;
  const size = [left + columns * width + MARGIN, top + rows * height + MARGIN];
  const sheet = createSheet(size[0], size[1], `${rows} × ${columns} numbers ${extent(picture, reach)}`);
  sheet.append(
    svg("image", {
      href: paint(picture, reach).toDataURL(),
      x: left,
      y: top,
      width: columns * width,
      height: rows * height,
      preserveAspectRatio: "none",
      style: "image-rendering: pixelated",
    }),
    ...drawLabels(picture, layout),
    ...(Math.min(width, height) >= LEAST_LINED ? drawLines(1, 1, layout, "cell-line") : []),
    ...drawLines(picture.row_groups, picture.column_groups, layout, "group-line"),
  );
  const box = createElement("div", "chart heat-map");
  box.style.width = `${size[0]}px`;
  const readout = createElement("p", "quiet readout", extent(picture, reach));
  sheet.addEventListener("mousemove", (event) => {
    const told = cellAt(picture, layout, sheet, /** @type {MouseEvent} */ (event));
    readout.textContent = told || extent(picture, reach);
  });
  onHover(
    box,
    () => {},
    () => {
      readout.textContent = extent(picture, reach);
    },
  );
  box.append(sheet, createScale(colours), readout);
  return box;
}

/** What the colours mean. @param {HeatMapPicture} picture @param {number} reach */
function extent({ colours }, reach) {
  if (colours !== "signed") return `from 0 to ${formatNumber(reach, 3)}`;
  return `from ${formatNumber(-reach, 3)} to ${formatNumber(reach, 3)}`;
}

/** @param {HeatMapPicture} picture @param {number} room @returns {Layout} */
function layoutCells({ values, rows, column_axis, columns, is_small }, room) {
  const { widest, tallest } = is_small ? SMALL : LARGE;
  const [down, across] = [values.length, values[0]?.length ?? 0];
  const left = Math.min(longestName(rows, 3), MOST_LETTERS) * LETTER + 8;
  const side = (/** @type {number} */ room, /** @type {number} */ count) =>
    Math.min(LARGEST_CELL, Math.max(1, room / Math.max(count, 1)));
  const whole = Math.min(widest, room); // were it made smaller afterwards, its labels would be, too
  const [width, height] = [side(whole - left - MARGIN, across), side((tallest * whole) / widest, down)];
  const letters = longestName(columns);
  const isTurned = columns.some(isWord) && width >= LINE - 2 && letters * LETTER + 6 > width;
  const labels = isTurned ? Math.min(letters, MOST_LETTERS) * LETTER : column_axis || columns.length ? LINE : 0;
  return { rows: down, columns: across, width, height, left, top: (column_axis ? LINE : 0) + labels + 4, isTurned };
}

/** @param {string[]} names @param {number} least */
function longestName(names, least = 0) {
  return Math.max(...names.map((name) => name.length), least);
}

/** Whether a label is no number, which its neighbours would tell. @param {string} name */
function isWord(name) {
  return !/^[\d\s]*$/.test(name);
}

/** One pixel for each cell. @param {HeatMapPicture} picture @param {number} reach */
function paint({ values, colours }, reach) {
  const canvas = createElement("canvas");
  canvas.width = values[0]?.length ?? 1;
  canvas.height = values.length;
  const context = context2d(canvas);
  const image = context.createImageData(canvas.width, canvas.height);
  values.flat().forEach((value, cell) => {
    const share = Number(value) / reach;
    const ink = colours === "signed" ? colour((share + 1) / 2, PURPLE_ORANGE) : colour(share, CIVIDIS);
    image.data.set(Number.isFinite(share) ? [...ink, 255] : [128, 128, 128, 255], 4 * cell);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Labels of the axes, as many as have room. @param {HeatMapPicture} picture @param {Layout} layout */
function drawLabels({ rows, columns, row_axis, column_axis }, layout) {
  const { left, top, width, height } = layout;
  const [rowNames, columnNames] = [named(rows, layout.rows), named(columns, layout.columns)];
  const [everyRow, everyColumn] = [
    Math.ceil(LINE / height),
    Math.ceil((Math.max(...columnNames.map((name) => name.length)) * LETTER + 6) / width),
  ];
  const column = (/** @type {string} */ name, /** @type {number} */ index) => {
    const x = left + (index + 0.5) * width;
    if (layout.isTurned) return turnedText(shortened(name), x + 4, top - 4);
    return index % everyColumn || !hasRoom(name, index, layout) ? null : text(name, x, top - 4, "middle");
  };
  return [
    ...rowNames.map((name, row) =>
      row % everyRow ? null : text(shortened(name), left - 5, top + (row + 0.5) * height + 4, "end"),
    ),
    ...(columns.length || column_axis ? columnNames : []).map(column),
    column_axis
      ? text(`${column_axis} →`, Math.max(left, row_axis ? (row_axis.length + 4) * LETTER : 0), 10, "start")
      : null,
    row_axis ? text(`${row_axis} ↓`, 0, column_axis ? 10 : top - 4, "start") : null,
  ].filter((element) => element !== null);
}

/** Whether a column's label ends before the sheet does. @param {string} name @param {number} column @param {Layout} layout */
function hasRoom(name, column, { width, columns }) {
  return (column + 0.5) * width + (name.length * LETTER) / 2 <= columns * width + MARGIN + LETTER / 2;
}

/** @param {string[]} names @param {number} count their numbers where they have no names */
function named(names, count) {
  return Array.from({ length: count }, (_, index) => names[index]?.trim() || names[index] || String(index));
}

/** @param {string} words @param {number} x @param {number} y @param {string} anchor */
function text(words, x, y, anchor) {
  return svg("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor, class: "small-label" }, [words]);
}

/** @param {string} name */
function shortened(name) {
  return name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS - 1)}…` : name;
}

/** Words that are read upwards. @param {string} words @param {number} x @param {number} y */
function turnedText(words, x, y) {
  const element = text(words, x, y, "start");
  element.setAttribute("transform", `rotate(-90 ${x.toFixed(1)} ${y.toFixed(1)})`);
  return element;
}

/**
 * Lines after every so many rows and columns (0: none).
 * @param {number} rowStep @param {number} columnStep @param {Layout} layout @param {string} style
 */
function drawLines(rowStep, columnStep, { rows, columns, width, height, left, top }, style) {
  const ends = (/** @type {number} */ count, /** @type {number} */ step) =>
    step ? Array.from({ length: Math.ceil(count / step) - 1 }, (_, index) => (index + 1) * step) : [];
  return [
    ...ends(rows, rowStep).map((row) => [left, top + row * height, left + columns * width, top + row * height]),
    ...ends(columns, columnStep).map((column) => [
      left + column * width,
      top,
      left + column * width,
      top + rows * height,
    ]),
  ].map(([x1, y1, x2, y2]) => svg("line", { x1, y1, x2, y2, class: style }));
}

/**
 * What stands in the cell under the pointer; "" where there is none.
 * @param {HeatMapPicture} picture @param {Layout} layout @param {Element} sheet @param {MouseEvent} event
 */
function cellAt({ values, rows, columns, row_axis, column_axis }, layout, sheet, event) {
  const frame = sheet.getBoundingClientRect();
  const scale = (layout.left + layout.columns * layout.width + MARGIN) / frame.width;
  const row = Math.floor(((event.clientY - frame.top) * scale - layout.top) / layout.height);
  const column = Math.floor(((event.clientX - frame.left) * scale - layout.left) / layout.width);
  const value = values[row]?.[column];
  if (value === undefined) return "";
  const place = [
    `${row_axis || "row"} ${named(rows, layout.rows)[row]}`,
    `${column_axis || "column"} ${named(columns, layout.columns)[column]}`,
  ];
  return `${place.join(", ")}: ${formatNumber(Number(value))}`;
}

/** The colours from the lowest to the highest number. @param {HeatMapPicture["colours"]} colours */
function createScale(colours) {
  const scale = createElement("div", "colour-scale");
  const stops = (colours === "signed" ? PURPLE_ORANGE : CIVIDIS).map((ink) => `rgb(${ink.join(" ")})`);
  scale.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  return scale;
}
