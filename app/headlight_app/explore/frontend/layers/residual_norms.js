// The norm of the residual stream after each layer: a thin line for each token, a thick one for the current token.

import { formatNumber } from "../../../ui/frontend/charts/charts.js";
import { HEAD_COLOURS } from "../../../ui/frontend/charts/colours.js";
import { addLineChart } from "../../../ui/frontend/charts/figure_charts.js";
import { paintFigure } from "../../../ui/frontend/charts/paint_shapes.js";
import { inlineText, quotedToken } from "../../../ui/frontend/dom/dom.js";
import { createTable, numbered } from "../../../ui/frontend/export/page_export.js";
import { currentStyle } from "../../../ui/frontend/heads/measurements.js";
import { answerPosition, depthLabel, layerElement } from "./layer_panel.js";

/** @import { LineChart } from "../../../ui/frontend/charts/figure_charts.js" */
/** @import { ExplorePage, Found, ResidualNormsAnswer, Table } from "../types.js" */

const SMALLEST = 1e-6; // smaller norms are clipped before the logarithm

/** @param {ExplorePage} page */
export function drawResidualNorms(page) {
  const found = page.server.get("residual_norms", {});
  if (!found || found.meta.error) return;
  const canvas = layerElement(page, "lengths", HTMLCanvasElement);
  const width = canvas.parentElement?.clientWidth;
  if (!width) return;
  const chart = normChart(page, found);
  paintFigure(canvas, width, currentStyle(page), (figure) => addLineChart(figure, chart, { x: 0, y: 0, width }));
  const token = page.state.answer.tokens[answerPosition(page)];
  const words = Array.from(chart.series.at(-1)?.values ?? [], (length) => formatNumber(length, 3));
  layerElement(page, "lengths-reading").replaceChildren(quotedToken(token), `: ${words.join(" → ")}`);
  canvas.ariaLabel = `Norm of the residual stream after each layer, at ${inlineText(token.text)}: ${words.join(", ")}`;
}

/**
 * A line for each token, the current one last.
 * @param {ExplorePage} page @param {Found<ResidualNormsAnswer>} found @returns {LineChart}
 */
export function normChart(page, { meta: { depths, tokens: count }, numbers }) {
  const norms = (/** @type {number} */ token) =>
    Array.from({ length: depths }, (_, depth) => Math.max(numbers[depth * count + token], SMALLEST));
  const labels = Array.from({ length: depths }, (_, depth) => depthLabel(depth));
  const all = page.state.answer.tokens.map((_, token) => ({ name: "", values: norms(token), isFaint: true }));
  const chosen = { name: "", values: norms(answerPosition(page)), isBroken: false, stroke: HEAD_COLOURS[0] };
  const yTitle = `norm of the residual stream, “${inlineText(page.state.answer.tokens[answerPosition(page)].text)}” strong`;
  return { series: [...all, chosen], x: [...labels.keys()], labels, yTitle, isLogY: true, hasLegend: false };
}

/** @param {ExplorePage} page @param {Found<ResidualNormsAnswer>} found @returns {Table} */
export function normTable(page, { meta: { depths }, numbers }) {
  const depth = Array.from({ length: depths }, (_, place) => depthLabel(place));
  return createTable("residual norms", { depth, token: numbered(page.state.answer.tokens) }, numbers);
}
