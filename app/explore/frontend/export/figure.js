// A figure of the selected heads for print: shapes in millimetres, made once, then written as SVG, PNG or (by the server) PDF.

import { formatBrief } from "../../../../model/rendering/static/heads/readout.js";
import { FAINT, visibleKeys } from "../../../../model/rendering/static/plots/attention_lines.js";
import { beyondEnd } from "../../../../model/rendering/static/state/colour_range.js";
import { MAX_LINE_HEADS, magnitude, matrixCodes } from "../../../../model/rendering/static/state/head_matrix.js";
import {
  CIVIDIS,
  colour,
  HEAD_COLOURS,
  NEGATIVE_COLOUR,
  PURPLE_ORANGE,
} from "../../../../model/rendering/static/ui/colours.js";
import {
  addFoot,
  addLabel,
  addLines,
  addTitle,
  fitText,
  LABEL_SIZE,
  longestLabel,
  PRINT_COLOURS,
  textWidth,
} from "./figure_text.js";

/** @import { HeadMatrix } from "../../../../model/rendering/static/types.js" */
/** @import { Box, Figure } from "../types.js" */

const GAP = 5; // between two heads
const MIN_VECTOR_CELL = 1.3; // millimetres a side, from which on cells are drawn one by one

/**
 * A matrix (with `each` head) and what its heads are called, as a figure of a width.
 * `locked` are the rows whose lines stand out from the rest; none: all do alike.
 * @param {HeadMatrix} matrix @param {string[]} heads
 * @param {{ picture: string, width: number, title: string, locked: number[], foot: string }} options @returns {Figure}
 */
export function createFigure(matrix, heads, { picture, width, title, locked, foot }) {
  /** @type {Figure} */
  const figure = { width, height: 0, title, palette: colourNames(matrix), shapes: [] };
  const lines = picture === "lines";
  let y = addTitle(figure);
  const panels = lines
    ? [{ each: matrix.per_head, name: heads.join(", ") }]
    : heads.map((name, place) => ({ each: [matrix.per_head[place]], name }));
  const across = lines ? 1 : Math.min(panels.length, width > 120 ? 3 : 2);
  const room = (width - 4 - (across - 1) * GAP) / across;
  for (let first = 0; first < panels.length; first += across) {
    const row = panels.slice(first, first + across);
    const ends = row.map((panel, place) => {
      const box = { x: 2 + place * (room + GAP), y: y + 1, width: room };
      const named =
        heads.length < 2 || !lines // a legend names several heads of one picture
          ? addLines(figure, [fitText(panel.name, LABEL_SIZE, room)], box.x, box.y, { bold: true })
          : box.y;
      return lines
        ? addAttentionLines(figure, matrix, panel.each, locked, { ...box, y: named })
        : addHeatmap(figure, matrix, panel.each[0], { ...box, y: named });
    });
    y = Math.max(...ends) + 2;
  }
  y = lines ? addHeadLegend(figure, heads, y) : addMatrixScale(figure, matrix, y);
  const rules = matrix.rules.filter((rule) => !/^(mean|largest) of \d+ heads$/.test(rule)); // each head stands by itself here
  if (matrix.fitted) rules.push(matrix.fitted.description);
  addFoot(figure, rules, foot, y);
  return figure;
}

/** @param {number[]} parts red, green and blue */
function hexColour(parts) {
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** How far cells of a size stand apart; nothing where they are one picture. @param {number} cell */
export function cellGap(cell) {
  return cell >= MIN_VECTOR_CELL ? Math.min(cell * 0.06, 0.25) : 0;
}

/** The colours of byte codes. @param {Pick<HeadMatrix, "signed">} matrix */
export function colourNames({ signed }) {
  const scale = signed ? PURPLE_ORANGE : CIVIDIS;
  return Array.from({ length: 256 }, (_, code) =>
    code ? hexColour(colour((code - 1) / 254, scale)) : signed ? PRINT_COLOURS.ground : PRINT_COLOURS.paper,
  );
}

/**
 * A map, queries downwards and keys to the right; gives its lower end.
 * @param {Figure} figure @param {HeadMatrix} matrix @param {Float32Array} numbers @param {Box} box
 */
function addHeatmap(figure, matrix, numbers, box) {
  const [rows, columns] = [matrix.rows.labels, matrix.columns.labels];
  const left = Math.min(longestLabel(rows, LABEL_SIZE) + 1.2, box.width * 0.3);
  const top = Math.min(longestLabel(columns, LABEL_SIZE) + 1.2, 22);
  const cell = Math.min((box.width - left) / columns.length, 7, 160 / rows.length);
  const size = Math.min(LABEL_SIZE, Math.max(cell * 0.9, 1.6));
  const every = Math.max(Math.ceil((size * 1.02) / cell), 1);
  const [x, y] = [box.x + left, box.y + top];
  columns.forEach((name, key) => {
    if (key % every === 0)
      addLabel(figure, name, x + (key + 0.5) * cell + size * 0.35, y - 0.8, {
        size,
        anchor: "start",
        turn: -90,
        room: top - 0.8,
      });
  });
  rows.forEach((name, row) => {
    if (row % every === 0)
      addLabel(figure, name, x - 0.8, y + (row + 0.5) * cell + size * 0.35, { size, anchor: "end", room: left - 0.8 });
  });
  const box2 = { x, y, width: cell * columns.length, height: cell * rows.length };
  if (matrix.signed) figure.shapes.push({ kind: "rectangle", ...box2, fill: PRINT_COLOURS.ground });
  const codes = matrixCodes({ ...matrix, numbers, states: null });
  figure.shapes.push({
    kind: "heatmap",
    ...box2,
    rows: rows.length,
    columns: columns.length,
    codes,
    gap: cellGap(cell),
  });
  figure.shapes.push({ kind: "rectangle", ...box2, stroke: PRINT_COLOURS.line, stroke_width: 0.15 });
  return y + box2.height;
}

/**
 * Lines between two columns of tokens, each head in its colour; gives their lower end.
 * @param {Figure} figure @param {HeadMatrix} matrix @param {Float32Array[]} each @param {number[]} locked @param {Box} box
 */
function addAttentionLines(figure, matrix, each, locked, box) {
  const [rows, columns] = [matrix.rows.labels, matrix.columns.labels];
  const count = Math.max(rows.length, columns.length);
  const step = Math.min(Math.max(150 / count, 1.5), 4.2);
  const size = Math.min(LABEL_SIZE * 1.1, step * 0.8);
  /** @param {string[]} names */
  const side = (names) => Math.min(longestLabel(names, size) + 1.5, box.width * 0.34);
  const [left, right] = [box.x + side(rows), box.x + box.width - side(columns)];
  /** @param {number} line */
  const at = (line) => box.y + 2 + (line + 0.5) * step;
  const middle = (left + right) / 2;
  const isFaint = (/** @type {number} */ row) => locked.length > 0 && !locked.includes(row);
  const order = [...rows.keys()].sort((one, other) => Number(isFaint(other)) - Number(isFaint(one))); // faint ones below
  each.forEach((numbers, place) => {
    const stroke = each.length > 1 ? HEAD_COLOURS[place % HEAD_COLOURS.length] : PRINT_COLOURS.beam;
    for (const row of order) {
      for (const { column, number } of visibleKeys(matrix, row, numbers)) {
        const strength = magnitude(matrix, number);
        figure.shapes.push({
          kind: "curve",
          points: [left, at(row), middle, at(row), middle, at(column), right, at(column)],
          opacity: Math.min(strength * 1.1, 1) * (isFaint(row) ? FAINT : 1),
          stroke: matrix.signed && number < 0 && each.length < 2 ? NEGATIVE_COLOUR : stroke,
          stroke_width: 0.12 + 0.8 * strength,
          dashed: place >= HEAD_COLOURS.length,
        });
      }
    }
  });
  for (const [row, name] of rows.entries()) {
    const room = left - box.x - 0.9;
    addLabel(figure, name, left - 0.9, at(row) + size * 0.35, {
      size,
      anchor: "end",
      room,
      bold: locked.includes(row),
    });
  }
  const room = box.x + box.width - right - 0.9;
  for (const [column, name] of columns.entries())
    addLabel(figure, name, right + 0.9, at(column) + size * 0.35, { size, anchor: "start", room });
  return at(count - 0.5);
}

/** The scale of a map with its ends. @param {Figure} figure @param {HeadMatrix} matrix @param {number} y */
function addMatrixScale(figure, matrix, y) {
  const [low, high] = [formatBrief(matrix, matrix.low), formatBrief(matrix, matrix.high)];
  const scale = matrix.scale === "linear" ? (matrix.signed ? "white at zero" : "linear scale") : "square-root scale";
  return addColourScale(figure, low, `${high}${beyondEnd(matrix.fitted)}  ${scale}`, y);
}

/**
 * All colours in a line, with words on both sides; gives its lower end.
 * @param {Figure} figure @param {string} before @param {string} behind @param {number} y
 */
export function addColourScale(figure, before, behind, y) {
  const x = 2 + textWidth(before, LABEL_SIZE) + 1;
  addLines(figure, [before], 2, y, { fill: PRINT_COLOURS.quiet });
  const codes = Uint8Array.from({ length: 128 }, (_, place) => 1 + place * 2);
  figure.shapes.push({ kind: "heatmap", x, y: y + 0.7, width: 24, height: 1.9, rows: 1, columns: 128, codes, gap: 0 });
  return addLines(figure, [behind], x + 25, y, { fill: PRINT_COLOURS.quiet });
}

/** @param {Figure} figure @param {string[]} heads @param {number} y */
function addHeadLegend(figure, heads, y) {
  if (heads.length < 2) return y;
  let x = 2;
  heads.slice(0, MAX_LINE_HEADS).forEach((name, place) => {
    const long = textWidth(name, LABEL_SIZE) + 8;
    if (x + long > figure.width) [x, y] = [2, y + LABEL_SIZE * 1.35];
    const level = y + LABEL_SIZE;
    figure.shapes.push({
      kind: "curve",
      points: [x, level, x + 4, level],
      stroke: HEAD_COLOURS[place % HEAD_COLOURS.length],
      stroke_width: 0.8,
      opacity: 1,
      dashed: place >= HEAD_COLOURS.length,
    });
    addLines(figure, [name], x + 5, y, {});
    x += long;
  });
  return y + LABEL_SIZE * 1.35;
}
