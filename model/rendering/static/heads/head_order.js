// The order in which heads are shown: layer by layer, or by a metric. It holds until another is asked for: what a click
// changes in the numbers never moves a head from under the pointer.

import { layerHeads } from "../state/head_selection.js";
import { remembered } from "../state/memory.js";
import { formatPercent } from "../ui/dom.js";

/** @import { Grid, Head, Page } from "../types.js" */

const memory = remembered(() => ({ asked: "", heads: /** @type {Head[]} */ ([]) }));

/**
 * Every metric of every head, layer after layer; null while a long text's are on their way, or where there are none.
 * @param {Page} page @param {Grid} grid
 */
export function metricsOf(page, grid) {
  return grid.metrics || askedMetrics(page, grid)?.metrics || null;
}

/** Why there are no metrics; empty where they are here or on their way. @param {Page} page @param {Grid} grid */
export function metricsTrouble(page, grid) {
  return (!grid.metrics && askedMetrics(page, grid)?.error) || "";
}

/** @param {Page} page @param {Grid} grid */
function askedMetrics(page, grid) {
  return page.server.get("head_metrics", { attention: grid.name }, 120)?.meta;
}

/**
 * A metric as a reader wants it: shares in percent, all else with its unit.
 * @param {Page} page @param {string} name @param {number | null | undefined} value
 */
export function formatMetric(page, name, value) {
  if (value === null || value === undefined) return "–";
  const unit = page.state.catalogue.metrics.find((metric) => metric.name === name)?.unit;
  return unit ? `${value.toFixed(2)} ${unit}` : formatPercent(value);
}

/**
 * The heads in the order in which they are shown, and the numbers of the metric that it is by: none by layer. It is
 * `outdated` where the numbers have changed since it was asked for.
 * @param {Page} page @param {Grid} grid
 */
export function headOrder(page, grid) {
  const known = memory(page);
  const byLayer = Array.from({ length: grid.layers }, (_, layer) => layerHeads(grid, layer)).flat();
  const { sort } = page.state.choice;
  const asked = askedOrder(page, grid);
  const metrics = metricsOf(page, grid);
  const values = sort === "layer" ? null : metrics?.[sort];
  if (!values) {
    const onTheirWay = sort !== "layer" && !metrics && known.asked === asked && !metricsTrouble(page, grid);
    if (onTheirWay) return { heads: known.heads, values: [], outdated: false };
    forgetOrder(page);
    return { heads: byLayer, values: null, outdated: false };
  }
  /** @param {Head} pair */
  const rank = ([layer, head]) => values[layer * grid.heads + head] ?? -Infinity;
  const sorted = byLayer.sort((one, other) => rank(other) - rank(one));
  if (known.asked !== asked) Object.assign(known, { asked, heads: sorted });
  return { heads: known.heads, values, outdated: String(known.heads) !== String(sorted) };
}

/** The order that is chosen is asked for anew. @param {Page} page */
export function forgetOrder(page) {
  memory(page).asked = "";
}

/**
 * What makes an order another one. Edits, masked tokens and variants change its numbers alone.
 * @param {Page} page @param {Grid} grid
 */
function askedOrder(page, { name, layers, heads }) {
  const { model, text, source, image } = page.state.answer.question;
  return JSON.stringify([page.state.choice.sort, name, layers, heads, model, text, source, image]);
}
