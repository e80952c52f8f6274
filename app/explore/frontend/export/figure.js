// A figure of the selected heads for print: maps, or lines between the tokens.

import { formatBrief } from "../../../../model/rendering/static/heads/readout.js";
import { FAINT, visibleKeys } from "../../../../model/rendering/static/plots/attention_lines.js";
import { beyondEnd } from "../../../../model/rendering/static/state/colour_range.js";
import { MAX_LINE_HEADS, magnitude, matrixCodes } from "../../../../model/rendering/static/state/head_matrix.js";
import { HEAD_COLOURS, NEGATIVE_COLOUR } from "../../../../model/rendering/static/ui/colours.js";
import {
  addFoot,
  addLabel,
  addLines,
  fitText,
  LABEL_SIZE,
  LINE_HEIGHT,
  longestLabel,
  PRINT_COLOURS,
  textWidth,
} from "../../../ui/frontend/export/figure_text.js";
import { addColourScale, addHeatmap, addPanels, beginFigure, MARGIN } from "../../../ui/frontend/export/shapes.js";

/** @import { HeadMatrix } from "../../../../model/rendering/static/types.js" */
/** @import { Box, Figure } from "../../../ui/frontend/export/types.js" */

/**
 * A matrix (with `each` head) and what its heads are called, as a figure of a width.
 * `locked` are the rows whose lines stand out from the rest; none: all do alike.
 * @param {HeadMatrix} matrix @param {string[]} heads
 * @param {{ picture: string, width: number, title: string, locked: number[], foot: string }} options @returns {Figure}
 */
export function createFigure(matrix, heads, { picture, width, title, locked, foot }) {
  const { figure, y: top } = beginFigure(width, title, matrix.signed);
  const lines = picture === "lines";
  const panels = lines
    ? [{ each: matrix.per_head, name: heads.join(", ") }]
    : heads.map((name, place) => ({ each: [matrix.per_head[place]], name }));
  const drawn = panels.map(({ each, name }) => (/** @type {Box} */ box) => {
    const isNamed = heads.length < 2 || !lines; // a legend names several heads of one picture
    const named = [fitText(name, LABEL_SIZE, box.width)];
    const y = isNamed ? addLines(figure, named, box.x, box.y, { bold: true }) : box.y;
    return lines
      ? addAttentionLines(figure, matrix, each, locked, { ...box, y })
      : addHeatmap(figure, heatmapOf(matrix, each[0]), { ...box, y });
  });
  const across = lines ? 1 : Math.min(panels.length, width > 120 ? 3 : 2);
  let y = addPanels(figure, top, drawn, across);
  y = lines ? addHeadLegend(figure, heads, y) : addColourScale(figure, scaleOf(matrix), MARGIN, y);
  const rules = matrix.rules.filter((rule) => !/^(mean|largest) of \d+ heads$/.test(rule)); // each head stands by itself here
  if (matrix.fitted) rules.push(matrix.fitted.description);
  addFoot(figure, rules, foot, y);
  return figure;
}

/** @param {HeadMatrix} matrix @param {Float32Array} numbers of one head */
function heatmapOf(matrix, numbers) {
  const codes = matrixCodes({ ...matrix, numbers, states: null });
  return { rows: matrix.rows.labels, columns: matrix.columns.labels, codes, signed: matrix.signed };
}

/** @param {HeadMatrix} matrix */
function scaleOf(matrix) {
  const words = matrix.scale === "linear" ? (matrix.signed ? "white at zero" : "linear scale") : "square-root scale";
  const [low, high] = [formatBrief(matrix, matrix.low), formatBrief(matrix, matrix.high)];
  return { low, high: `${high}${beyondEnd(matrix.fitted)}`, words };
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

/** @param {Figure} figure @param {string[]} heads @param {number} y */
function addHeadLegend(figure, heads, y) {
  if (heads.length < 2) return y;
  let x = 2;
  heads.slice(0, MAX_LINE_HEADS).forEach((name, place) => {
    const long = textWidth(name, LABEL_SIZE) + 8;
    if (x + long > figure.width) [x, y] = [2, y + LABEL_SIZE * LINE_HEIGHT];
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
  return y + LABEL_SIZE * LINE_HEIGHT;
}
