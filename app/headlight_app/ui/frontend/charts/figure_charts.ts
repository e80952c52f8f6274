// Charts within a figure: curves over numbers, and bars with their numbers.

import type { Box, Figure, Look, TextLine } from "../types.ts";
import { HEAD_COLOURS, NEGATIVE_COLOUR } from "./colours.ts";
import { addLines, addWords, fitText, LINE_HEIGHT, textWidth } from "./figure_text.ts";
import { createScale, formatMark } from "./scale.ts";

type Series = { name: string; values: ArrayLike<number>; isBroken?: boolean; stroke?: string; isFaint?: boolean };
type LineStyle = { stroke: string; stroke_width: number; dashed: boolean; opacity: number };
interface LineChart {
  series: Series[];
  x: number[];
  xTitle?: string;
  yTitle: string;
  labels?: string[]; // of named places
  isLogX?: boolean;
  isLogY?: boolean;
  fromZero?: boolean; // whether the axis includes 0
  parts?: number; // approximate, of the axes
  hasLegend?: boolean;
}
/** A row of bars: its label, and a value for each kind of bar. */
type Bars = { label: string; values: (number | null)[]; starts?: number[]; texts?: string[] };

const CHART_HEIGHT = 17.4; // in font sizes
const FAINT = 0.3; // opacity of lines behind highlighted ones
const DOT = 0.39; // side of a point, which is a square, in font sizes
const MOST_NAME = 0.42; // of the width, for the names of bars

/**
 * Curves over the numbers `x`, or over named places. Curves are named below if `hasLegend`, and interrupted at values
 * that are not finite. Returns the chart's bottom edge.
 */
export function addLineChart(figure: Figure, chart: LineChart, box: Box) {
  const { series, x, xTitle, yTitle, labels, isLogX, isLogY, fromZero, parts, hasLegend = true } = chart;
  const { size } = figure.look;
  const top = addTitleAbove(figure, yTitle, box);
  const bottom = top + CHART_HEIGHT * size;
  const values = series.flatMap((one) => Array.from(one.values));
  const up = createScale(values, bottom, top, { isLog: isLogY, fromZero, parts });
  const left = box.x + widestMark(figure, up.marks);
  const along = createScale(x, left, box.x + box.width, { isLog: isLogX, parts });
  for (const mark of up.marks) addLine(figure, [left, up.place(mark), box.x + box.width, up.place(mark)], true);
  addMarksBeside(figure, up.marks, up.place, left, box);
  if (labels) addPlaces(figure, labels, x.map(along.place), bottom);
  else addMarksBelow(figure, along.marks, along.place, bottom);
  addLine(figure, [left, bottom, box.x + box.width, bottom]);
  series.forEach((one, place) => {
    const points = Array.from(one.values, (value, at) => [along.place(x[at]), up.place(value)]);
    addCurve(figure, points, lineStyle(figure, one, place));
    if (labels && !one.isFaint) addDots(figure, points, lineStyle(figure, one, place).stroke);
  });
  const end = xTitle ? addTitleBelow(figure, xTitle, left, bottom, box) : bottom + 1.5 * LINE_HEIGHT * figure.look.size;
  return hasLegend && series.length > 1 ? addLegend(figure, series, { ...box, y: end }) : end;
}

/** The title of the vertical axis, above its chart. */
function addTitleAbove(figure: Figure, title: string, { x, y, width }: Box) {
  const { size, quiet } = figure.look;
  return addLines(figure, [fitText(title, size, width)], x, y, { fill: quiet }) + 0.65 * size;
}

/** @param bottom of the chart */
function addTitleBelow(figure: Figure, title: string, left: number, bottom: number, box: Box) {
  const { size, quiet } = figure.look;
  const text = fitText(title, size, box.x + box.width - left);
  return addLines(figure, [text], left, bottom + size * LINE_HEIGHT, { fill: quiet });
}

/** The width that the numbers beside a chart need. */
function widestMark({ look: { size } }: Figure, marks: number[]) {
  return Math.max(...marks.map((mark) => textWidth(formatMark(mark), size))) + 0.65 * size;
}

/** @param left of the chart */
function addMarksBeside(figure: Figure, marks: number[], place: (mark: number) => number, left: number, box: Box) {
  const { size } = figure.look;
  for (const mark of marks)
    addWords(figure, formatMark(mark), left - 0.35 * size, place(mark) + 0.35 * size, {
      anchor: "end",
      room: left - box.x,
    });
}

/** @param bottom of the chart */
function addMarksBelow(figure: Figure, marks: number[], place: (mark: number) => number, bottom: number) {
  for (const mark of marks) addBelow(figure, formatMark(mark), place(mark), bottom, "middle");
}

/** @param bottom of the chart */
function addPlaces(figure: Figure, labels: string[], places: number[], bottom: number) {
  const { size } = figure.look;
  const widest = Math.max(...labels.map((label) => textWidth(label, size))) + size;
  const every = Math.max(Math.ceil(widest / Math.abs((places[1] ?? Infinity) - places[0])), 1);
  labels.forEach((label, place) => {
    if (place % every) return;
    const isLast = place === labels.length - 1; // its centred name would overflow the box
    addBelow(figure, label, places[place], bottom, isLast ? "end" : "middle");
  });
}

function addBelow(figure: Figure, words: string, x: number, bottom: number, anchor: TextLine["anchor"]) {
  const { size } = figure.look;
  const isCut = x + textWidth(words, size) / 2 > figure.width; // at the right edge of the figure
  addWords(figure, words, x, bottom + size * LINE_HEIGHT, { anchor: isCut ? "end" : anchor, room: 8.7 * size });
}

/** Lines through neighbouring points that have numbers. */
export function addCurve(figure: Figure, points: number[][], style: LineStyle) {
  let run = [] as number[];
  for (const point of [...points, [NaN, NaN]]) {
    if (point.every(Number.isFinite)) run.push(...point);
    else {
      if (run.length > 2) figure.shapes.push({ kind: "polyline", points: run, ...style });
      run = [];
    }
  }
}

function addDots(figure: Figure, points: number[][], fill: string) {
  const side = DOT * figure.look.size;
  for (const [x, y] of points.filter((point) => point.every(Number.isFinite)))
    figure.shapes.push({ kind: "rectangle", x: x - side / 2, y: y - side / 2, width: side, height: side, fill });
}

/**
 * Bars in rows: a label, a bar for each value (none for null), and the numbers, or the `texts` of the row. Bars begin
 * at zero, unless a row has `starts`; the track goes from `least` to `most`. Returns the bottom edge.
 */
export function addBars(
  figure: Figure,
  {
    rows,
    kinds,
    least = 0,
    most,
    format = formatMark,
    missing = "",
  }: {
    rows: Bars[];
    kinds: string[];
    least?: number;
    most: number;
    format?: (value: number) => string;
    missing?: string;
  },
  box: Box,
) {
  const { size, quiet } = figure.look;
  const numbers = rows.map(
    ({ values, texts }) => texts ?? values.map((value) => (value === null ? missing : format(value))),
  );
  const names = rows.map((row) => textWidth(row.label, size));
  const label = Math.min(Math.max(...names, 2.6 * size) + 0.65 * size, box.width * MOST_NAME);
  const column = Math.max(...numbers.flat().map((text) => textWidth(text, size)), 1.7 * size) + 0.65 * size;
  const track = box.width - label - column * kinds.length;
  const height = size * LINE_HEIGHT + 0.26 * size;
  const unit = track / (most - least || 1);
  rows.forEach(({ label: name, values, starts }, row) => {
    const y = box.y + row * height;
    const base = y + size * 1.1;
    addWords(figure, name, box.x, base, { anchor: "start", room: label - 0.4 * size });
    values.forEach((value, kind) => {
      const thick = (height - 0.4 * size) / values.length;
      const start = starts?.[kind] ?? 0;
      const reached = value ?? start;
      const [from, to] = [Math.max(Math.min(reached, start), least), Math.min(Math.max(reached, start), most)];
      const width = Math.max((to - from) * unit, value === null ? 0 : figure.look.thin);
      const place = {
        x: box.x + label + (from - least) * unit,
        y: y + 0.13 * size + kind * thick,
        width,
        height: thick,
      };
      const fill = reached < start ? NEGATIVE_COLOUR : barColour(figure, kind, kinds.length);
      if (width > 0) figure.shapes.push({ kind: "rectangle", ...place, fill });
      const x = box.x + label + track + column * (kind + 1);
      addWords(figure, numbers[row][kind], x, base, { anchor: "end", room: column });
    });
  });
  const end = box.y + rows.length * height;
  if (kinds.length < 2) return end;
  let x = box.x + label;
  kinds.forEach((kind, place) => {
    const swatch = { x, y: end + 0.6 * size, width: 1.3 * size, height: 0.6 * size };
    figure.shapes.push({ kind: "rectangle", ...swatch, fill: barColour(figure, place, kinds.length) });
    addLines(figure, [kind], x + 1.7 * size, end, { fill: quiet });
    x += textWidth(kind, size) + 3.5 * size;
  });
  return end + size * LINE_HEIGHT;
}

/** The line of each series with its name. Returns the legend's bottom edge. */
export function addLegend(figure: Figure, series: Omit<Series, "values">[], box: Box) {
  const { size } = figure.look;
  let [x, y] = [box.x, box.y];
  series.forEach((one, place) => {
    const name = fitText(one.name, size, box.width - 2.2 * size);
    const long = textWidth(name, size) + 3.5 * size;
    if (x > box.x && x + long > box.x + box.width) [x, y] = [box.x, y + size * LINE_HEIGHT];
    const points = [x, y + size, x + 1.75 * size, y + size];
    figure.shapes.push({ kind: "polyline", points, ...lineStyle(figure, one, place) });
    addLines(figure, [name], x + 2.2 * size, y);
    x += long;
  });
  return y + size * LINE_HEIGHT;
}

/** A line of the grid, or else of an axis. */
export function addLine({ shapes, look }: Figure, points: number[], isGrid: boolean = false) {
  const stroke = isGrid ? look.ground : look.line;
  shapes.push({ kind: "polyline", points, stroke, stroke_width: look.thin, opacity: 1, dashed: false });
}

function lineStyle({ look }: Figure, { isBroken, stroke, isFaint }: Omit<Series, "values">, place: number): LineStyle {
  if (isFaint) return { stroke: look.quiet, stroke_width: look.thin, dashed: false, opacity: FAINT };
  return {
    opacity: 1,
    stroke: stroke ?? seriesColour(look, place),
    stroke_width: look.thick,
    dashed: isBroken ?? place >= HEAD_COLOURS.length,
  };
}

/** The colour of a series, or of a group of points, by its place. */
export function seriesColour({ beam }: Look, place: number) {
  return [beam, ...HEAD_COLOURS.slice(1)][place % HEAD_COLOURS.length];
}

function barColour({ look }: Figure, kind: number, kinds: number) {
  return kinds === 1 || kind ? look.beam : look.line;
}
