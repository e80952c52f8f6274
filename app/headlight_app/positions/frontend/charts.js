// The charts of a positional encoding: each draws itself for the screen or for print, and reads the value under the
// pointer.

import { formatNumber } from "../../ui/frontend/charts/charts.js";
import { addBars, addLineChart, addNumberMap } from "../../ui/frontend/charts/figure_charts.js";
import { cellAtPointer } from "../../ui/frontend/charts/heatmap.js";
import { addColourScale, colourNames } from "../../ui/frontend/charts/shapes.js";

/** @import { Series } from "../../ui/frontend/charts/figure_charts.js" */
/** @import { CellsShape, Chart, Chosen, Figure, LossTable, NumberArray, Profile } from "./types.js" */

const MOST_CHANNELS = 12; // to choose from

/** About a dozen of `count` channels, denser at the front, where the frequencies are highest. @param {number} count */
export function sampleChannels(count) {
  const places = Array.from({ length: MOST_CHANNELS }, (_, step) =>
    Math.round((count - 1) * (step / (MOST_CHANNELS - 1)) ** 2),
  );
  return [...new Set(places)];
}

/** The initial choice. @param {Profile} profile @returns {Chosen} */
export function firstChoice({ embeddings, angles, similarity }) {
  const some = (/** @type {NumberArray | undefined} */ array, /** @type {number} */ from) =>
    sampleChannels(array?.shape[1] ?? 0).filter((_, place) => place >= from && (place - from) % 2 === 0);
  return {
    channels: some(embeddings, 2).slice(0, 4),
    pairs: some(angles, 1).slice(0, 4),
    head: 0,
    position: similarity ? middle(similarity) : 0,
  };
}

/** @param {Profile} profile @param {Chosen} chosen @returns {Chart[]} */
export function chartsOf(profile, chosen) {
  const { embeddings, angles, bias, slopes, similarity, buckets, bucket_similarity } = profile;
  return [
    ...(embeddings ? embeddingCharts(embeddings, chosen) : []),
    ...(angles ? rotationCharts(angles, chosen) : []),
    ...(bias ? biasCharts(bias, slopes, chosen) : []),
    ...(similarity ? similarityCharts(similarity, Boolean(angles), chosen) : []),
    ...(buckets ? bucketCharts(buckets, bucket_similarity) : []),
  ];
}

/** @param {NumberArray} embeddings @param {Chosen} chosen @returns {Chart[]} */
function embeddingCharts(embeddings, { channels }) {
  const curves = columnsOf(embeddings, channels, "channel");
  return [
    mapChart("What is added to each token", embeddings, { across: "channel", down: "position", isSigned: true }),
    {
      ...curveChart("Channels over positions", curves, 0, { across: "position", up: "value" }),
      control: { kind: "channels", options: sampleChannels(embeddings.shape[1]) },
    },
  ];
}

/** @param {NumberArray} angles @param {Chosen} chosen @returns {Chart[]} */
function rotationCharts(angles, { pairs }) {
  const [rows, columns] = angles.shape;
  const cosines = { ...angles, values: angles.values.map(Math.cos) };
  const [first, last] = [columns, 2 * columns - 1].map((place) => formatNumber(angles.values[place], 3));
  const curves = columnsOf(cosines, pairs, "pair");
  return [
    mapChart("Cosine of each rotation", cosines, { across: "pair of channels", down: "position", isSigned: true }),
    {
      ...curveChart("Rotation angles of channel pairs", curves, 0, { across: "position", up: "cosine of the angle" }),
      control: { kind: "pairs", options: sampleChannels(columns) },
      caption: rows > 1 ? `Pair 0 rotates by ${first} rad per token, the last pair by ${last}.` : "",
    },
  ];
}

/** @param {NumberArray} bias @param {NumberArray | undefined} slopes @param {Chosen} chosen @returns {Chart[]} */
function biasCharts(bias, slopes, { head }) {
  const axes = { across: "distance (key minus query)", up: "added to the score" };
  const over = curveChart("Bias over distance", biasOverDistance(bias), -middle(bias), axes);
  if (slopes) return [over, barChart("Slope of each head: decrease per token", slopes.values)];
  const map = mapChart(`Bias of head ${head}`, headBias(bias, head), { across: "key", down: "query", isSigned: true });
  const heads = Array.from({ length: bias.shape[0] }, (_, place) => place);
  return [over, { ...map, control: { kind: "head", options: heads } }];
}

/** @param {NumberArray} similarity @param {boolean} isRotated @param {Chosen} chosen @returns {Chart[]} */
function similarityCharts(similarity, isRotated, { position }) {
  const row = { name: `position ${position}`, values: rowOf(similarity, position) };
  const caption = isRotated
    ? "Mean cosine of the differences of all angles: the factor by which the rotations scale the product of two equal vectors."
    : "Cosine of the two position embeddings.";
  const options = Array.from({ length: similarity.shape[0] }, (_, place) => place);
  return [
    { ...mapChart("Similarity of positions", similarity, { across: "position", down: "position" }), caption },
    {
      ...curveChart(`Similarity to position ${position}`, [row], 0, { across: "position", up: "similarity" }),
      control: { kind: "position", options },
    },
  ];
}

/**
 * The distances that share a learned value, and the similarity of the learned vectors of two distances.
 * @param {NumberArray} buckets @param {NumberArray | undefined} similarity @returns {Chart[]}
 */
function bucketCharts(buckets, similarity) {
  const start = -Math.floor(buckets.values.length / 2);
  const axes = { across: "distance (key minus query)", up: "row of the table" };
  const curve = curveChart("Distances that share a learned row", [{ name: "", values: buckets.values }], start, axes);
  const shared = {
    ...curve,
    caption: "Where the line is level, all these distances share one row of the learned table.",
  };
  if (!similarity) return [shared];
  const caption =
    "Cosine of the learned vectors of two distances. What they add to a score depends on the query and the key: on " +
    "Explore, Step by step shows it for the tokens of a text.";
  const map = mapChart("Similarity of distances", similarity, { across: "distance", down: "distance", start });
  return [shared, { ...map, caption }];
}

/** @param {LossTable} measured @returns {Chart} */
export function lossChart({ architecture, lengths, rows }) {
  const series = rows.map(({ title, losses }) => ({ name: title, values: losses.map((loss) => loss?.mean ?? NaN) }));
  const axes = {
    across: "tokens of the text",
    up: `bits per ${architecture === "encoder" ? "masked " : ""}token of held-out books`,
  };
  return curveChart(`Loss of ${architecture}s over the length of the text`, series, 0, axes, lengths.map(String));
}

/**
 * @param {string} title @param {NumberArray} array
 * @param {{ across: string, down: string, isSigned?: boolean, start?: number }} options @returns {Chart}
 */
function mapChart(title, { shape: [rows, columns], values }, { across, down, isSigned = false, start = 0 }) {
  const [smallest, largest] = values.reduce(
    ([least, most], number) => [Math.min(least, number), Math.max(most, number)],
    [Infinity, -Infinity],
  );
  const limit = Math.max(Math.abs(largest), Math.abs(smallest)) || 1;
  const [low, high] = isSigned ? [-limit, limit] : [smallest, largest];
  const codes = Uint8Array.from(values, (number) => 1 + Math.round((254 * (number - low)) / (high - low || 1)));
  const palette = colourNames(isSigned);
  const ends = {
    low: formatNumber(low, 3),
    high: formatNumber(high, 3),
    words: isSigned ? "white at zero" : "",
    palette,
  };
  const map = { rows, columns, codes, palette, start, xTitle: across, yTitle: down };
  return {
    title,
    draw: (figure, box) => addColourScale(figure, ends, box.x, addNumberMap(figure, map, box)),
    read(figure, sheet, event) {
      const cells = /** @type {CellsShape} */ (figure.shapes.find((shape) => shape.kind === "heatmap"));
      const size = { width: cells.width / columns, height: cells.height / rows };
      const cell = cellAtPointer(sheet, { ...cells, ...size }, event, scaleOf(sheet, figure));
      if (!cell) return "";
      const value = formatNumber(values[cell.query * columns + cell.key]);
      return `${down} ${start + cell.query}, ${across} ${start + cell.key}: ${value}`;
    },
  };
}

/**
 * Curves over the numbers from `start` on, or over named places.
 * @param {string} title @param {Series[]} series @param {number} start @param {{ across: string, up: string }} axes
 * @param {string[]} [labels] @returns {Chart}
 */
function curveChart(title, series, start, { across, up }, labels) {
  const x = Array.from(series[0]?.values ?? [], (_, place) => start + place);
  const chart = { series, x, labels, xTitle: across, yTitle: up };
  return {
    title,
    draw: (figure, box) => (series.length ? addLineChart(figure, chart, box) : box.y),
    read(figure, sheet, event) {
      const grid = figure.shapes.find((shape) => shape.kind === "polyline");
      if (grid?.kind !== "polyline") return "";
      const [left, , right] = grid.points;
      const at = (event.clientX - sheet.getBoundingClientRect().left) / scaleOf(sheet, figure);
      const place = Math.round(((at - left) / (right - left)) * (x.length - 1));
      if (!(place in x)) return "";
      const named = series.map(({ name, values }) => `${name} ${formatNumber(values[place])}`.trim());
      return `${across} ${labels ? labels[place] : x[place]}: ${named.join(", ")}`;
    },
  };
}

/** @param {string} title @param {Float32Array} numbers of each head @returns {Chart} */
function barChart(title, numbers) {
  const rows = Array.from(numbers, (number, head) => ({ label: `head ${head}`, values: [number] }));
  const format = (/** @type {number} */ value) => formatNumber(value, 4);
  const chart = { rows, kinds: [""], most: Math.max(...numbers), format, missing: "" };
  return { title, draw: (figure, box) => addBars(figure, chart, box), read: () => "" };
}

/** The factor between a sheet's size on the screen and its own size. @param {Element} sheet @param {Figure} figure */
function scaleOf(sheet, { width }) {
  return sheet.getBoundingClientRect().width / width || 1;
}

/** The index of the middle query, which sees all distances. @param {NumberArray} array with a row for each query */
export function middle({ shape }) {
  return Math.floor(shape[shape.length - 1] / 2);
}

/** @param {NumberArray} bias [head query key] @returns {Series[]} */
export function biasOverDistance(bias) {
  return Array.from({ length: bias.shape[0] }, (_, head) => ({
    name: `head ${head}`,
    values: rowOf(headBias(bias, head), middle(bias)),
  }));
}

/** @param {NumberArray} bias @param {number} head */
function headBias({ shape: [, rows, columns], values }, head) {
  const size = rows * columns;
  return { shape: [rows, columns], values: values.subarray(head * size, (head + 1) * size) };
}

/** @param {NumberArray} array @param {number} row */
function rowOf({ shape: [, columns], values }, row) {
  return values.subarray(row * columns, (row + 1) * columns);
}

/** @param {NumberArray} array @param {number[]} chosen @param {string} name @returns {Series[]} */
function columnsOf({ shape: [rows, columns], values }, chosen, name) {
  return chosen.map((column) => ({
    name: `${name} ${column}`,
    values: Float32Array.from({ length: rows }, (_, row) => values[row * columns + column]),
  }));
}
