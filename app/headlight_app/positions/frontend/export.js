// What the Positions page shows, to be exported: the charts of an encoding, and the numbers behind them.

import { formatNumber } from "../../ui/frontend/charts/charts.js";
import { addBars, addLineChart, addNumberMap } from "../../ui/frontend/charts/figure_charts.js";
import { addColourScale, addPanels, beginFigure, colourNames, titled } from "../../ui/frontend/charts/shapes.js";
import { explained } from "../../ui/frontend/export/page_export.js";

const ALL_CHARTS = "all charts";

/** @import { Series } from "../../ui/frontend/charts/figure_charts.js" */
/** @import { Box, Figure, ShownFigure, ShownSide, ShownView, Table } from "../../ui/frontend/export/types.js" */
/** @import { LossTable } from "./contract.js" */
/** @import { NumberArray, PositionsData } from "./types.d.ts" */
/** @typedef {{ title: string, draw: (figure: Figure, box: Box) => number }} Chart */
/** @typedef {Record<string, NumberArray>} Profile by the names of its arrays */

/** @param {Profile} profile @param {PositionsData} data @returns {ShownView} */
export function positionsView(profile, data) {
  const { request, title } = data;
  const charts = chartsOf(profile, data);
  const stack = [request.stack, ...(request.layer === null ? [] : [`layer ${request.layer}`])].join(", ");
  /** @param {Chart[]} shown */
  const encodingFigure = (shown) => ({
    name: `positions-${title
      .toLowerCase()
      .match(/[a-z0-9]+/g)
      ?.join("-")}`,
    shown: `${title}: ${shown.map((chart) => chart.title.toLowerCase()).join(", ")} · ${stack}, ${request.length} positions`,
    draw: drawCharts(shown, title),
  });
  /** @type {[string, Chart[]][]} */
  const sets = charts.map((chart) => [chart.title, [chart]]);
  if (charts.length > 1) sets.unshift([ALL_CHARTS, charts]);
  return {
    sides: positionSides(data),
    charts: {
      ...Object.fromEntries(sets.map(([name, set]) => [name, () => encodingFigure(set)])),
      ...Object.fromEntries(data.losses.map(lossFigure)),
    },
    tables: {
      ...explained(tablesOf(profile), encodingFigure([]).shown),
      ...Object.fromEntries(data.losses.map(lossTable)),
    },
  };
}

/** @param {PositionsData} data */
export function positionSides({ request }) {
  return [{ question: request.question, tokens: [], source_tokens: null }];
}

/** @param {Chart[]} charts @param {string} title @returns {ShownFigure["draw"]} */
function drawCharts(charts, title) {
  return (width, heading) => {
    if (!charts.length) throw new Error("This page has no chart now, so there is nothing to draw.");
    const { figure, y } = beginFigure(width, heading || title);
    const panels = charts.map((chart) => titled(figure, chart.title, (box) => chart.draw(figure, box)));
    return { figure, y: addPanels(figure, y, panels, width > 120 && panels.length > 1 ? 2 : 1) };
  };
}

/** The losses are those of the models of the table, each as it was trained. @param {LossTable} measured @returns {ShownSide[]} */
function measuredModels({ rows }) {
  return rows.map(({ question }) => ({ question, tokens: [], source_tokens: null }));
}

/** @param {LossTable} measured @returns {[string, () => ShownFigure]} */
function lossFigure(measured) {
  const chart = lossChart(measured);
  const shown = `${chart.title}, measured by ${measured.command}`;
  const name = `positions-losses-${measured.architecture}`;
  return [chart.title, () => ({ name, shown, sides: measuredModels(measured), draw: drawCharts([chart], "") })];
}

/** @param {LossTable} measured @returns {Chart} */
function lossChart({ architecture, lengths, rows }) {
  const series = rows.map(({ title, losses }) => ({ name: title, values: losses.map((loss) => loss?.mean ?? NaN) }));
  const labels = lengths.map(String);
  const axes = { xTitle: "tokens of the text", yTitle: "bits per token of held-out books" };
  return {
    title: `Loss of ${architecture}s over the length of the text`,
    draw: (figure, box) => addLineChart(figure, { series, x: [...labels.keys()], labels, ...axes }, box),
  };
}

/** @param {LossTable} measured @returns {[string, Table]} */
function lossTable(measured) {
  const { architecture, lengths, rows } = measured;
  const texts = [...lengths.map((length) => `${length} tokens`), `${lengths[0]} tokens, words shuffled`];
  const values = rows.flatMap(({ losses, shuffled }) =>
    [...losses, shuffled].flatMap((loss) => [loss?.mean ?? NaN, loss?.standard_error ?? NaN]),
  );
  return [
    `Losses of ${architecture}s`,
    {
      name: `positions losses ${architecture}`,
      axes: ["positional_encoding", "bits per token"],
      labels: [rows.map(({ title }) => title), texts.flatMap((text) => [text, `${text}, standard error`])],
      values: Float32Array.from(values),
      sides: measuredModels(measured),
    },
  ];
}

/** @param {Profile} profile @param {PositionsData} data @returns {Chart[]} as the page has them */
function chartsOf({ embeddings, angles, bias, slopes, similarity, buckets, bucket_similarity }, data) {
  /** @type {Chart[]} */
  const charts = [];
  if (embeddings)
    charts.push(
      { title: "What is added to each token", draw: drawMap(embeddings, "channel", "position", { signed: true }) },
      {
        title: "Channels over positions",
        draw: drawCurves(columnsOf(embeddings, data.channels ?? [], "channel"), 0, "position", "value"),
      },
    );
  if (angles) {
    const cosines = { ...angles, values: angles.values.map(Math.cos) };
    charts.push(
      { title: "Cosine of each rotation", draw: drawMap(cosines, "pair of channels", "position", { signed: true }) },
      {
        title: "Rotation angles of channel pairs",
        draw: drawCurves(columnsOf(cosines, data.pairs ?? [], "pair"), 0, "position", "cosine of the angle"),
      },
    );
  }
  if (bias) {
    const curves = biasOverDistance(bias);
    charts.push({
      title: "Bias over distance",
      draw: drawCurves(curves, -middle(bias), "distance (key minus query)", "added to the score"),
    });
    if (!slopes)
      charts.push({
        title: `Bias of head ${data.head ?? 0}`,
        draw: drawMap(headBias(bias, data.head ?? 0), "key", "query", { signed: true }),
      });
  }
  if (slopes) charts.push({ title: "Slope of each head: decrease per token", draw: drawSlopes(slopes.values) });
  if (similarity) {
    const position = data.position ?? middle(similarity);
    charts.push(
      { title: "Similarity of positions", draw: drawMap(similarity, "position", "position") },
      {
        title: `Similarity to position ${position}`,
        draw: drawCurves([rowOf(similarity, position)], 0, "position", "similarity"),
      },
    );
  }
  if (buckets) {
    const furthest = Math.floor(buckets.values.length / 2);
    const curve = { name: "row of the table", values: buckets.values };
    charts.push({
      title: "Distances that share what is learned",
      draw: drawCurves([curve], -furthest, "distance (key minus query)", "row of the table"),
    });
    if (bucket_similarity)
      charts.push({
        title: "Similarity of distances",
        draw: drawMap(bucket_similarity, "distance", "distance", { start: -furthest }),
      });
  }
  return charts;
}

/** @param {Profile} profile @returns {Record<string, Table>} */
function tablesOf({ embeddings, angles, bias, slopes, similarity, buckets, bucket_similarity }) {
  const furthest = buckets ? -Math.floor(buckets.values.length / 2) : 0;
  return {
    ...(embeddings && { Embeddings: table("embeddings", ["position", "channel"], embeddings) }),
    ...(angles && { "Rotation angles": table("angles", ["position", "pair"], angles) }),
    ...(bias && { "Bias over distance": biasTable(bias) }),
    ...(slopes && { Slopes: table("slopes", ["head"], slopes) }),
    ...(similarity && { "Similarity of positions": table("similarity", ["position", "other_position"], similarity) }),
    ...(buckets && { "Rows that distances share": table("rows", ["distance"], buckets, furthest) }),
    ...(bucket_similarity && {
      "Similarity of distances": table("distances", ["distance", "other_distance"], bucket_similarity, furthest),
    }),
  };
}

/** @param {string} name @param {string[]} axes @param {NumberArray} array @param {number} [first] label of each axis @returns {Table} */
function table(name, axes, { shape, values }, first = 0) {
  return { name: `positions ${name}`, axes, labels: shape.map((size) => counted(size, first)), values: values.slice() };
}

/** @param {NumberArray} bias @returns {Table} */
function biasTable(bias) {
  const curves = biasOverDistance(bias);
  return {
    name: "positions bias",
    axes: ["head", "distance"],
    labels: [counted(curves.length), counted(bias.shape[1], -middle(bias))],
    values: Float32Array.from(curves.flatMap(({ values }) => Array.from(values))),
  };
}

/** The query in the middle sees all distances. @param {NumberArray} array with a row for each query */
function middle({ shape }) {
  return Math.floor(shape[shape.length - 1] / 2);
}

/** @param {NumberArray} bias [head query key] @returns {Series[]} */
function biasOverDistance(bias) {
  return Array.from({ length: bias.shape[0] }, (_, head) => ({
    name: `head ${head}`,
    values: rowOf(headBias(bias, head), middle(bias)).values,
  }));
}

/** @param {NumberArray} bias @param {number} head */
function headBias({ shape: [, rows, columns], values }, head) {
  const size = rows * columns;
  return { shape: [rows, columns], values: values.subarray(head * size, (head + 1) * size) };
}

/** @param {NumberArray} array @param {number} row */
function rowOf({ shape: [, columns], values }, row) {
  return { name: `position ${row}`, values: values.subarray(row * columns, (row + 1) * columns) };
}

/** @param {NumberArray} array @param {number[]} chosen @param {string} name @returns {Series[]} */
function columnsOf({ shape: [rows, columns], values }, chosen, name) {
  const values_of = (/** @type {number} */ column) =>
    Float32Array.from({ length: rows }, (_, row) => values[row * columns + column]);
  return chosen.map((column) => ({ name: `${name} ${column}`, values: values_of(column) }));
}

/** @param {number} size @param {number} [first] */
function counted(size, first = 0) {
  return Array.from({ length: size }, (_, place) => String(first + place).replace("-", "−"));
}

/**
 * @param {NumberArray} array @param {string} xTitle @param {string} yTitle @param {{ signed?: boolean, start?: number }} [options]
 * @returns {Chart["draw"]}
 */
function drawMap({ shape: [rows, columns], values }, xTitle, yTitle, { signed = false, start = 0 } = {}) {
  const numbers = Array.from(values);
  const largest = numbers.reduce((most, number) => Math.max(most, number), -Infinity);
  const smallest = numbers.reduce((least, number) => Math.min(least, number), Infinity);
  const limit = Math.max(Math.abs(largest), Math.abs(smallest)) || 1;
  const [low, high] = signed ? [-limit, limit] : [smallest, largest];
  const codes = Uint8Array.from(numbers, (number) => 1 + Math.round((254 * (number - low)) / (high - low || 1)));
  const palette = colourNames(signed);
  const scale = {
    low: formatNumber(low, 3),
    high: formatNumber(high, 3),
    words: signed ? "white at zero" : "",
    palette,
  };
  return (figure, box) => {
    const end = addNumberMap(figure, { rows, columns, codes, palette, start, xTitle, yTitle }, box);
    return addColourScale(figure, scale, box.x, end);
  };
}

/** @param {Series[]} series @param {number} start @param {string} xTitle @param {string} yTitle @returns {Chart["draw"]} */
function drawCurves(series, start, xTitle, yTitle) {
  const x = Array.from(series[0]?.values ?? [], (_, place) => start + place);
  return (figure, box) => (series.length ? addLineChart(figure, { series, x, xTitle, yTitle }, box) : box.y);
}

/** @param {Float32Array} slopes @returns {Chart["draw"]} */
function drawSlopes(slopes) {
  const rows = Array.from(slopes, (slope, head) => ({ label: `head ${head}`, values: [slope] }));
  const format = (/** @type {number} */ value) => formatNumber(value, 4);
  return (figure, box) =>
    addBars(figure, { rows, kinds: ["slope"], most: Math.max(...slopes), format, missing: "" }, box);
}
