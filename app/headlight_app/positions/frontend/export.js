// Export of the Positions page: its charts, and their numbers.

import { addPanels, beginFigure, titled } from "../../ui/frontend/charts/shapes.js";
import { createTable, explained } from "../../ui/frontend/export/page_export.js";
import { biasOverDistance, chartsOf, lossChart, middle } from "./charts.js";

/** @import { Chart, Chosen, LossTable, NumberArray, PositionsData, Profile, ShownFigure } from "./types.js" */
/** @import { ShownSide, ShownView, Table } from "./types.js" */

const ALL_CHARTS = "all charts";

/** @param {Profile} profile @param {Chosen} chosen @param {PositionsData} data @returns {ShownView} */
export function positionsView(profile, chosen, data) {
  const { request, title } = data;
  const charts = chartsOf(profile, chosen);
  const stack = [request.stack, ...(request.layer === null ? [] : [`layer ${request.layer}`])].join(", ");
  const name = `positions-${(title.toLowerCase().match(/[a-z0-9]+/g) ?? []).join("-")}`;
  /** @param {Chart[]} shown @returns {ShownFigure} */
  const figureOf = (shown) => ({
    name,
    shown: `${title}: ${shown.map((chart) => chart.title.toLowerCase()).join(", ")} · ${stack}, ${request.length} positions`,
    draw: drawCharts(shown, title),
  });
  /** @type {[string, Chart[]][]} */
  const sets = charts.map((chart) => [chart.title, [chart]]);
  if (charts.length > 1) sets.unshift([ALL_CHARTS, charts]);
  return {
    sides: positionSides(data),
    charts: {
      ...Object.fromEntries(sets.map(([subject, set]) => [subject, () => figureOf(set)])),
      ...Object.fromEntries(data.losses.map(lossFigure)),
    },
    tables: {
      ...explained(tablesOf(profile), figureOf(charts).shown),
      ...Object.fromEntries(data.losses.map(lossTable)),
    },
  };
}

/** @param {PositionsData} data @returns {ShownSide[]} */
export function positionSides({ request }) {
  return [{ question: request.question, tokens: [], source_tokens: null }];
}

/** @param {Chart[]} charts @param {string} title @returns {ShownFigure["draw"]} */
function drawCharts(charts, title) {
  return (width, heading) => {
    const { figure, y } = beginFigure(width, heading || title);
    const panels = charts.map((chart) => titled(figure, chart.title, (box) => chart.draw(figure, box)));
    return { figure, y: addPanels(figure, y, panels, Math.min(panels.length, 2)) };
  };
}

/** The origin of the losses: the models of the table as trained. @param {LossTable} measured @returns {ShownSide[]} */
function measuredModels({ rows }) {
  return rows.map(({ question }) => ({ question, tokens: [], source_tokens: null }));
}

/** @param {LossTable} measured @returns {[string, () => ShownFigure]} */
function lossFigure(measured) {
  const chart = lossChart(measured);
  const shown = `${chart.title}, measured by ${measured.command}`;
  const name = `positions-losses-${measured.architecture}`;
  const brief = "measured by headlight extrapolate, by the command in the metadata of this file";
  return [chart.title, () => ({ name, shown, brief, sides: measuredModels(measured), draw: drawCharts([chart], "") })];
}

/** @param {LossTable} measured @returns {[string, Table]} */
export function lossTable(measured) {
  const { architecture, lengths, rows } = measured;
  const texts = [...lengths.map((length) => `${length} tokens`), `${lengths[0]} tokens, words shuffled`];
  const values = rows.flatMap(({ losses, shuffled }) =>
    [...losses, shuffled].flatMap((loss) => [loss?.mean ?? NaN, loss?.standard_error ?? NaN]),
  );
  const unit = architecture === "encoder" ? "bits per masked token" : "bits per token";
  const labels = {
    positional_encoding: rows.map(({ title }) => title),
    [unit]: texts.flatMap((text) => [text, `${text}, standard error`]),
  };
  const table = createTable(`positions losses ${architecture}`, labels, values);
  return [`Losses of ${architecture}s`, { ...table, sides: measuredModels(measured) }];
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
  const labels = { head: counted(curves.length), distance: counted(bias.shape[1], -middle(bias)) };
  return createTable(
    "positions bias",
    labels,
    curves.flatMap(({ values }) => Array.from(values)),
  );
}

/** @param {number} size @param {number} [first] */
function counted(size, first = 0) {
  return Array.from({ length: size }, (_, place) => String(first + place).replace("-", "−"));
}
