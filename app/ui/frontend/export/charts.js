// Charts within a figure for print: curves over a number, and bars with their numbers.

import { formatNumber } from "../../../../model/rendering/static/ui/charts.js";
import { HEAD_COLOURS } from "../../../../model/rendering/static/ui/colours.js";
import { addLines, addWords, fitText, LABEL_SIZE, LINE_HEIGHT, PRINT_COLOURS, textWidth } from "./figure_text.js";

/** @import { Box, Figure } from "./types.js" */
/** @typedef {{ name: string, values: ArrayLike<number> }} Series */
/** @typedef {{ label: string, values: (number | null)[] }} Bars values between 0 and `most`, one for each kind of bar */

const CHART_HEIGHT = 40; // millimetres
const MAP_HEIGHT = 60; // of one that is not square
const TICKS = 4;
const DOT = 0.9; // millimetres of a point, where few have names
const LINE_COLOURS = [PRINT_COLOURS.beam, ...HEAD_COLOURS.slice(1)];
const BAR_COLOURS = [PRINT_COLOURS.line, PRINT_COLOURS.beam];

/** Round numbers that divide a range into about as many parts. @param {number} low @param {number} high @param {number} parts */
export function ticks(low, high, parts = TICKS) {
  const rough = (high - low) / parts || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough * 0.999) ?? rough;
  const count = Math.floor((high - Math.ceil(low / step - 1e-9) * step) / step + 1e-9) + 1;
  return Array.from({ length: count }, (_, place) => (Math.ceil(low / step - 1e-9) + place) * step);
}

/**
 * Curves over `start`, `start` + 1 and so on, or over named places; each is named below, and has no point where its
 * value is no number. Gives the chart's lower end.
 * @param {Figure} figure
 * @param {{ series: Series[], start: number, xTitle: string, yTitle: string, labels?: string[] }} chart @param {Box} box
 */
export function addLineChart(figure, { series, start, xTitle, yTitle, labels }, box) {
  const all = series.flatMap(({ values }) => Array.from(values)).filter(Number.isFinite);
  let [low, high] = [Math.min(...all), Math.max(...all)];
  if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
  const length = Math.max(...series.map(({ values }) => values.length));
  const names = ticks(low, high).map((number) => [number, formatNumber(number, 3)]);
  const left = box.x + Math.max(...names.map(([, name]) => textWidth(String(name), LABEL_SIZE))) + 1.5;
  const top =
    addLines(figure, [fitText(yTitle, LABEL_SIZE, box.width)], box.x, box.y, { fill: PRINT_COLOURS.quiet }) + 1.5;
  const [right, bottom] = [box.x + box.width, top + CHART_HEIGHT];
  const across = (/** @type {number} */ at) => left + ((at - start) / Math.max(length - 1, 1)) * (right - left);
  const up = (/** @type {number} */ value) => bottom - ((value - low) / (high - low)) * CHART_HEIGHT;
  for (const [number, name] of names) {
    addLine(figure, [left, up(Number(number)), right, up(Number(number))], PRINT_COLOURS.ground, 0.15);
    addWords(figure, String(name), left - 0.8, up(Number(number)) + LABEL_SIZE * 0.35, {
      anchor: "end",
      room: left - box.x,
    });
  }
  const places = labels ? labels.map((_, place) => start + place) : ticks(start, start + length - 1);
  places.forEach((number, place) => {
    const isLast = labels !== undefined && place === labels.length - 1; // its name would stand out of the box
    addWords(figure, labels?.[place] ?? formatNumber(number), across(number), bottom + LABEL_SIZE * LINE_HEIGHT, {
      anchor: isLast ? "end" : "middle",
      room: 20,
    });
  });
  addLine(figure, [left, bottom, right, bottom], PRINT_COLOURS.line, 0.15);
  series.forEach(({ values }, place) => {
    const points = Array.from(values, (value, at) => [across(start + at), up(value)]);
    for (let at = 1; at < points.length; at++)
      if (Number.isFinite(values[at - 1]) && Number.isFinite(values[at]))
        addLine(figure, [...points[at - 1], ...points[at]], lineColour(place), 0.35, place >= LINE_COLOURS.length);
    if (labels)
      for (const [x, y] of points.filter((_, at) => Number.isFinite(values[at])))
        figure.shapes.push({
          kind: "rectangle",
          x: x - DOT / 2,
          y: y - DOT / 2,
          width: DOT,
          height: DOT,
          fill: lineColour(place),
        });
  });
  const end = addLines(figure, [fitText(xTitle, LABEL_SIZE, right - left)], left, bottom + LABEL_SIZE * LINE_HEIGHT, {
    fill: PRINT_COLOURS.quiet,
  });
  return series.length > 1 ? addLegend(figure, series, { ...box, y: end }) : end;
}

/**
 * A map of byte codes over two numbers, rows downwards, both from `start` on; gives the chart's lower end.
 * @param {Figure} figure
 * @param {{ rows: number, columns: number, codes: Uint8Array, palette: string[], start: number, xTitle: string, yTitle: string }} map
 * @param {Box} box
 */
export function addNumberMap(figure, { rows, columns, codes, palette, start, xTitle, yTitle }, box) {
  const top = addLines(figure, [yTitle], box.x, box.y, { fill: PRINT_COLOURS.quiet }) + 1.5;
  const names = ticks(start, start + rows - 1).map((number) => ({ number, name: formatNumber(number) }));
  const left = box.x + Math.max(...names.map(({ name }) => textWidth(name, LABEL_SIZE))) + 1.5;
  const width = box.x + box.width - left;
  const height = rows === columns ? width : MAP_HEIGHT;
  const place = { x: left, y: top, width, height };
  figure.shapes.push({ kind: "heatmap", ...place, rows, columns, codes, gap: 0, palette });
  figure.shapes.push({ kind: "rectangle", ...place, stroke: PRINT_COLOURS.line, stroke_width: 0.15 });
  const middleOf = (/** @type {number} */ number, /** @type {number} */ count) => (number - start + 0.5) / count;
  for (const { number, name } of names)
    addWords(figure, name, left - 0.8, top + middleOf(number, rows) * height + LABEL_SIZE * 0.35, {
      anchor: "end",
      room: 20,
    });
  for (const number of ticks(start, start + columns - 1))
    addWords(
      figure,
      formatNumber(number),
      left + middleOf(number, columns) * width,
      top + height + LABEL_SIZE * LINE_HEIGHT,
      { anchor: "middle", room: 20 },
    );
  return addLines(figure, [xTitle], left, top + height + LABEL_SIZE * LINE_HEIGHT, { fill: PRINT_COLOURS.quiet }) + 0.5;
}

/**
 * Bars in rows: a label, a bar for each value (null: it has none), and the numbers; gives their lower end.
 * @param {Figure} figure @param {{ rows: Bars[], kinds: string[], most: number, format: (value: number) => string, missing: string }} chart
 * @param {Box} box
 */
export function addBars(figure, { rows, kinds, most, format, missing }, box) {
  const numbers = rows.map(({ values }) => values.map((value) => (value === null ? missing : format(value))));
  const label = Math.min(Math.max(...rows.map((row) => textWidth(row.label, LABEL_SIZE)), 6) + 1.5, box.width * 0.35);
  const column = Math.max(...numbers.flat().map((text) => textWidth(text, LABEL_SIZE)), 4) + 1.5;
  const track = box.width - label - column * kinds.length;
  const height = LABEL_SIZE * LINE_HEIGHT + 0.6;
  rows.forEach(({ label: name, values }, row) => {
    const y = box.y + row * height;
    const base = y + LABEL_SIZE * 1.1;
    addWords(figure, name, box.x, base, { anchor: "start", room: label - 1 });
    values.forEach((value, kind) => {
      const thick = (height - 1) / values.length;
      const width = Math.max(((value ?? 0) / (most || 1)) * track, value === null ? 0 : 0.15);
      const place = { x: box.x + label, y: y + 0.3 + kind * thick, width, height: thick };
      if (width > 0) figure.shapes.push({ kind: "rectangle", ...place, fill: barColour(kind, kinds.length) });
      const x = box.x + label + track + column * (kind + 1);
      addWords(figure, numbers[row][kind], x, base, { anchor: "end", room: column });
    });
  });
  const end = box.y + rows.length * height;
  if (kinds.length < 2) return end;
  let x = box.x + label;
  kinds.forEach((kind, place) => {
    figure.shapes.push({
      kind: "rectangle",
      x,
      y: end + 1.4,
      width: 3,
      height: 1.4,
      fill: barColour(place, kinds.length),
    });
    addLines(figure, [kind], x + 4, end, { fill: PRINT_COLOURS.quiet });
    x += textWidth(kind, LABEL_SIZE) + 8;
  });
  return end + LABEL_SIZE * LINE_HEIGHT;
}

/** @param {Figure} figure @param {Series[]} series @param {Box} box */
function addLegend(figure, series, box) {
  let [x, y] = [box.x, box.y];
  series.forEach(({ name }, place) => {
    const long = textWidth(name, LABEL_SIZE) + 8;
    if (x > box.x && x + long > box.x + box.width) [x, y] = [box.x, y + LABEL_SIZE * LINE_HEIGHT];
    const level = y + LABEL_SIZE;
    addLine(figure, [x, level, x + 4, level], lineColour(place), 0.5, place >= LINE_COLOURS.length);
    addLines(figure, [name], x + 5, y);
    x += long;
  });
  return y + LABEL_SIZE * LINE_HEIGHT;
}

/** @param {Figure} figure @param {number[]} points @param {string} stroke @param {number} thick @param {boolean} [dashed] */
function addLine(figure, points, stroke, thick, dashed = false) {
  figure.shapes.push({ kind: "curve", points, stroke, stroke_width: thick, opacity: 1, dashed });
}

/** @param {number} place */
function lineColour(place) {
  return LINE_COLOURS[place % LINE_COLOURS.length];
}

/** @param {number} kind @param {number} kinds */
function barColour(kind, kinds) {
  return BAR_COLOURS[kinds === 1 ? 1 : kind];
}
