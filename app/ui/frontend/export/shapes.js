// What figures for print are made of: maps with names at their sides, colour scales, panels side by side.

import { CIVIDIS, colour, PURPLE_ORANGE } from "../../../../model/rendering/static/ui/colours.js";
import { addLabel, addLines, addTitle, LABEL_SIZE, longestLabel, PRINT_COLOURS, textWidth } from "./figure_text.js";

/** @import { Box, Figure } from "./types.js" */

export const GAP = 5; // between two panels
export const MARGIN = 2;
const MIN_VECTOR_CELL = 1.3; // millimetres a side, from which on cells are drawn one by one

/** A figure with its title, and where what follows begins. @param {number} width @param {string} title @param {boolean} [signed] */
export function beginFigure(width, title, signed = false) {
  /** @type {Figure} */
  const figure = { width, height: 0, title, palette: colourNames(signed), shapes: [] };
  return { figure, y: addTitle(figure) };
}

/**
 * Panels side by side, row after row; each draws itself into its box and gives its lower end.
 * @param {Figure} figure @param {number} y @param {((box: Box) => number)[]} panels @param {number} across at most
 */
export function addPanels(figure, y, panels, across) {
  const room = (figure.width - 2 * MARGIN - (across - 1) * GAP) / across;
  for (let first = 0; first < panels.length; first += across) {
    const row = panels.slice(first, first + across);
    const ends = row.map((draw, place) => draw({ x: MARGIN + place * (room + GAP), y: y + 1, width: room }));
    y = Math.max(...ends) + 2;
  }
  return y;
}

/** The colours of 256 byte codes. @param {boolean} signed */
export function colourNames(signed) {
  const scale = signed ? PURPLE_ORANGE : CIVIDIS;
  /** @param {number[]} parts */
  const hex = (parts) => `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  return Array.from({ length: 256 }, (_, code) =>
    code ? hex(colour((code - 1) / 254, scale)) : signed ? PRINT_COLOURS.ground : PRINT_COLOURS.paper,
  );
}

/** How far cells of a size stand apart; nothing where they are one picture. @param {number} cell */
export function cellGap(cell) {
  return cell >= MIN_VECTOR_CELL ? Math.min(cell * 0.06, 0.25) : 0;
}

/**
 * A map of byte codes, rows downwards, with the tokens of both; gives its lower end.
 * @param {Figure} figure
 * @param {{ rows: string[], columns: string[], codes: Uint8Array, signed?: boolean, palette?: string[] }} map
 * @param {Box} box
 */
export function addHeatmap(figure, { rows, columns, codes, signed = false, palette }, box) {
  const left = Math.min(longestLabel(rows, LABEL_SIZE) + 1.2, box.width * 0.3);
  const top = Math.min(longestLabel(columns, LABEL_SIZE) + 1.2, 22);
  const cell = Math.min((box.width - left) / columns.length, 7, 160 / rows.length);
  const [x, y] = [box.x + left, box.y + top];
  addNames(figure, rows, columns, { x, y, cell, left, top });
  const cells = { x, y, width: cell * columns.length, height: cell * rows.length };
  if (signed) figure.shapes.push({ kind: "rectangle", ...cells, fill: PRINT_COLOURS.ground });
  const gap = cellGap(cell);
  const counted = { rows: rows.length, columns: columns.length };
  figure.shapes.push({ kind: "heatmap", ...cells, ...counted, codes, gap, ...(palette && { palette }) });
  figure.shapes.push({ kind: "rectangle", ...cells, stroke: PRINT_COLOURS.line, stroke_width: 0.15 });
  return y + cells.height;
}

/**
 * The names at the left of a map and above it: every one, or as many as there is room for.
 * @param {Figure} figure @param {string[]} rows @param {string[]} columns
 * @param {{ x: number, y: number, cell: number, left: number, top: number }} place
 */
function addNames(figure, rows, columns, { x, y, cell, left, top }) {
  const size = Math.min(LABEL_SIZE, Math.max(cell * 0.9, 1.6));
  const every = Math.max(Math.ceil((size * 1.02) / cell), 1);
  const [above, beside] = [{ turn: -90, room: top - 0.8 }, { room: left - 0.8 }];
  columns.forEach((name, column) => {
    if (column % every) return;
    addLabel(figure, name, x + (column + 0.5) * cell + size * 0.35, y - 0.8, { size, anchor: "start", ...above });
  });
  rows.forEach((name, row) => {
    if (row % every) return;
    addLabel(figure, name, x - 0.8, y + (row + 0.5) * cell + size * 0.35, { size, anchor: "end", ...beside });
  });
}

/**
 * A scale with its ends and what there is to say of it; gives where the next line would begin.
 * @param {Figure} figure @param {{ low: string, high: string, words: string, palette?: string[] }} scale
 * @param {number} x @param {number} y
 */
export function addColourScale(figure, { low, high, words, palette }, x, y) {
  const from = x + textWidth(low, LABEL_SIZE) + 1;
  addLines(figure, [low], x, y, { fill: PRINT_COLOURS.quiet });
  const codes = Uint8Array.from({ length: 128 }, (_, place) => 1 + place * 2);
  const strip = { x: from, y: y + 0.7, width: 24, height: 1.9, rows: 1, columns: 128, codes, gap: 0 };
  figure.shapes.push({ kind: "heatmap", ...strip, ...(palette && { palette }) });
  return addLines(figure, [words ? `${high}  ${words}` : high], from + 25, y, { fill: PRINT_COLOURS.quiet });
}
