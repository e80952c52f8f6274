// The end of the colour scale of weights: at 1, or fitted to the shown weights.

import { formatNumber } from "../dom/numbers.ts";
import type { AttentionGroup, ColourRangeRow, Page } from "../types.ts";
import { decodeWeight } from "../weight_code.ts";

const BINS = 4096; // of square roots of weights

/** The chosen row. */
export function currentColourRange(page: Page): ColourRangeRow {
  const { colour_ranges } = page.state.catalogue;
  return colour_ranges.find(({ name }) => name === page.state.choice.colour_range) ?? colour_ranges[0];
}

/** The words after the last number of a legend, if larger numbers have the same colour. */
export function beyondEnd(range?: Pick<ColourRangeRow, "quantile">) {
  return (range?.quantile ?? 1) < 1 ? " and above" : "";
}

/** The end of the colour scale of byte codes, as text for a legend. */
export function formatHigh(high: number) {
  return high < 1 ? `≈ ${formatNumber(high, 2)}` : "1";
}

/** The bin at which the cumulative count reaches a share of the total; -1 if nothing was counted. */
function quantileBin(counts: Uint32Array, share: number) {
  let missing = share * counts.reduce((sum, count) => sum + count, 0);
  return counts.findIndex((count) => {
    missing -= count;
    return count > 0 && missing < 1e-6;
  });
}

/**
 * The quantile `share` of the weights, rounded up to a bin's edge; 1 if no weight is positive.
 * @param weights NaN does not count
 */
export function weightQuantile(weights: Float32Array[], share: number) {
  const counts = new Uint32Array(BINS);
  let largest = 0;
  for (const numbers of weights) {
    for (const weight of numbers) {
      if (Number.isNaN(weight)) continue;
      counts[Math.min(Math.floor(Math.sqrt(Math.max(weight, 0)) * BINS), BINS - 1)]++;
      if (weight > largest) largest = weight;
    }
  }
  return Math.min(((quantileBin(counts, share) + 1) / BINS) ** 2, largest) || 1;
}

/** The weight at the end of the colour scale of a group: the same for all heads, so that they can be compared. */
export function gridHigh(page: Page, group: AttentionGroup) {
  const { quantile } = currentColourRange(page);
  if (quantile === null) return 1;
  const counts = new Uint32Array(256);
  const cells = group.layers * group.heads * group.pooled_shape[0] * group.pooled_shape[1];
  for (const code of page.state.answer.bytes.subarray(group.offset, group.offset + cells)) counts[code]++;
  counts[0] = 0; // cells that the mask forbids
  return decodeWeight(Math.max(quantileBin(counts, quantile), 1)) || 1;
}
