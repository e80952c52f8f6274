// B - A, weight by weight, for corresponding queries and keys.

import type { AttentionPair, Comparison } from "./comparison.ts";
import type { HeadIndex, PositionPair } from "./types.ts";

const LEAST_RANGE = 0.01; // minimum range of the colours: values printed as 0.00 look like zero

/**
 * `numbers`, [query key], NaN if masked on both sides; `codes`: 0 for NaN, else 1 to 255 for -`extent` to +`extent`.
 */
export type WeightDifference = {
  queries: PositionPair[];
  keys: PositionPair[];
  extent: number;
  numbers: Float32Array;
  codes: Uint8Array;
};

/** A weight that is masked on one side only counts as zero there. @param heads of each side */
export function weightDifference(
  comparison: Comparison,
  { groups }: AttentionPair,
  heads: HeadIndex[],
): WeightDifference {
  const queries = comparison.pairs(groups[0].queries);
  const keys = comparison.pairs(groups[0].keys);
  const [weightA, weightB] = groups.map((group, side) => comparison.weights(side, group, heads[side]));
  const numbers = new Float32Array(queries.length * keys.length);
  queries.forEach((query, row) => {
    keys.forEach((key, column) => {
      const [a, b] = [weightA(query[0], key[0]), weightB(query[1], key[1])];
      numbers[row * keys.length + column] = Number.isNaN(a) && Number.isNaN(b) ? Number.NaN : (b || 0) - (a || 0);
    });
  });
  const extent = numbers.reduce((most, number) => (Math.abs(number) > most ? Math.abs(number) : most), LEAST_RANGE);
  const codes = Uint8Array.from(numbers, (number) =>
    Number.isNaN(number) ? 0 : 1 + Math.round(127 * (number / extent + 1)),
  );
  return { queries, keys, extent, numbers, codes };
}
