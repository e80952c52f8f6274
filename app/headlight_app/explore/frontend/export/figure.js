// A figure of the selected heads for print: maps, or lines between the tokens.

import { HEAD_COLOURS, NEGATIVE_COLOUR } from "../../../ui/frontend/charts/colours.js";
import { addLegend } from "../../../ui/frontend/charts/figure_charts.js";
import {
  addFoot,
  addLabel,
  addLines,
  addWords,
  fitText,
  LABEL_SIZE,
  longestLabel,
  PRINT_COLOURS,
} from "../../../ui/frontend/charts/figure_text.js";
import { addColourScale, addHeatmap, addPanels, beginFigure, MARGIN } from "../../../ui/frontend/charts/shapes.js";
import { formatBrief } from "../../../ui/frontend/heads/readout.js";
import { FAINT, visibleKeys } from "../../../ui/frontend/plots/attention_lines.js";
import { beyondEnd } from "../../../ui/frontend/state/colour_range.js";
import { MAX_LINE_HEADS, magnitude, matrixCodes } from "../../../ui/frontend/state/head_matrix.js";

/** @import { HeadMatrix } from "../../../ui/frontend/types.js" */
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
  const axes = { down: "query", across: "key" };
  return { rows: matrix.rows.labels, columns: matrix.columns.labels, axes, codes, signed: matrix.signed };
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
  const heading = { size: LABEL_SIZE, room: box.width * 0.34, fill: PRINT_COLOURS.quiet };
  addWords(figure, "query", left - 0.9, box.y + LABEL_SIZE, { ...heading, anchor: "end" });
  addWords(figure, "key", right + 0.9, box.y + LABEL_SIZE, { ...heading, anchor: "start" });
  /** @param {number} line */
  const at = (line) => box.y + LABEL_SIZE + 2 + (line + 0.5) * step;
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
  const named = heads
    .slice(0, MAX_LINE_HEADS)
    .map((name, place) => ({ name, stroke: HEAD_COLOURS[place % HEAD_COLOURS.length] }));
  return addLegend(figure, named, { x: MARGIN, y, width: figure.width - MARGIN });
}
