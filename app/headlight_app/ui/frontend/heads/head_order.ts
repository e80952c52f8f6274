// The order in which heads are shown: layer by layer, or by a metric. It stays until another is requested: a click that
// changes the numbers never moves a head from under the pointer.

import { remembered } from "../dom/memory.ts";
import { formatPercent, formatPlaces } from "../dom/numbers.ts";
import { layerHeads } from "../state/head_selection.ts";
import { QUERY_KEY, queriesArePatches } from "../state/token_selection.ts";
import type { AttentionGroup, Head, Page } from "../types.ts";
import { pairWeights } from "./query_key_order.ts";

const memory = remembered(() => ({ asked: "", sort: "", heads: [] as Head[], outdated: false }));

/** Every metric of every head, layer after layer; null if there are none, or while those of a long text are loading. */
export function metricsOf(page: Page, group: AttentionGroup) {
  return group.metrics || askedMetrics(page, group)?.metrics || null;
}

/** The metrics that apply to the current attention. */
export function metricRows(page: Page) {
  const read = queriesArePatches(page) ? "image" : "text";
  return page.state.catalogue.metrics.filter(({ reads }) => reads === read);
}

/** The reason why there are no metrics; empty if they are here or loading. */
export function metricsTrouble(page: Page, group: AttentionGroup) {
  return (!group.metrics && askedMetrics(page, group)?.error) || "";
}

function askedMetrics(page: Page, group: AttentionGroup) {
  return page.server.get("head_metrics", { attention: group.name }, 120)?.meta;
}

/** A metric for display: shares in percent, others with their unit. */
export function formatMetric(page: Page, name: string, value: number | null | undefined, digits: number = 2) {
  if (value === null || value === undefined) return "–";
  const unit = metricRows(page).find((metric) => metric.name === name)?.unit;
  return unit ? `${formatPlaces(value, digits)} ${unit}` : formatPercent(value);
}

/**
 * The numbers for the chosen order: none for the order by layer, or while they are `late`. Numbers that are not yet
 * `exact` do not move heads.
 */
function orderValues(page: Page, group: AttentionGroup) {
  const { sort } = page.state.choice;
  if (sort === QUERY_KEY) {
    const weights = pairWeights(page, group);
    return weights ? { ...weights, late: false } : { values: null, exact: false, late: true };
  }
  const metrics = metricsOf(page, group);
  const late = sort !== "layer" && !metrics && !metricsTrouble(page, group);
  return { values: metrics?.[sort] ?? null, exact: true, late };
}

/**
 * The heads in the displayed order, and the numbers that they are sorted by: none for the order by layer. It is
 * `outdated` if the numbers have changed since it was requested.
 */
export function headOrder(page: Page, group: AttentionGroup) {
  const known = memory(page);
  const byLayer = Array.from({ length: group.layers }, (_, layer) => layerHeads(group, layer)).flat();
  const asked = askedOrder(page, group);
  const { values, exact, late } = orderValues(page, group);
  if (!values) {
    if (late && known.asked === asked) return { heads: known.heads, values: [], outdated: false };
    forgetOrder(page);
    return { heads: byLayer, values: null, outdated: false };
  }
  const rank = ([layer, head]: Head) => values[layer * group.heads + head] ?? -Infinity;
  const sorted = [...byLayer].sort((one, other) => rank(other) - rank(one));
  if (known.asked !== asked && !exact) {
    const held = known.sort === page.state.choice.sort && known.heads.length === byLayer.length;
    return held ? { heads: known.heads, values, outdated: false } : { heads: byLayer, values: null, outdated: false };
  }
  if (known.asked !== asked) Object.assign(known, { asked, heads: sorted, sort: page.state.choice.sort });
  if (exact) known.outdated = String(known.heads) !== String(sorted);
  return { heads: known.heads, values, outdated: known.outdated };
}

/** Requests the chosen order again. */
export function forgetOrder(page: Page) {
  memory(page).asked = "";
}

/**
 * The key of an order. Edits, masked tokens and variants change only its numbers; so does another text or pair if the
 * order is by one weight.
 */
function askedOrder(page: Page, { name, layers, heads }: AttentionGroup) {
  const { model, text, source, text_pair: pair, chat, image } = page.state.answer.question;
  const { sort } = page.state.choice;
  const read = sort === QUERY_KEY ? [] : [text, source, pair, chat, image];
  return JSON.stringify([sort, name, layers, heads, model, ...read]);
}
