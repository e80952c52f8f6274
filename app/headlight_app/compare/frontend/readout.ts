// The marked cell of both sides in words, or the most attended key of the marked query.

import { createElement, largestShares, NO_LARGE_SHARE, quotedToken } from "../../ui/frontend/dom/dom.ts";
import { formatPlaces } from "../../ui/frontend/dom/numbers.ts";
import type { AttentionPair, Comparison } from "./comparison.ts";
import type { HeadIndex, QueryKey } from "./types.ts";

/** @param heads of each side @param positions on each side */
export function drawReadout(
  element: HTMLElement,
  comparison: Comparison,
  attention: AttentionPair,
  heads: HeadIndex[],
  positions: QueryKey[],
) {
  const [a, b] = positions.map((position, side) => describeSide(comparison, attention, side, heads[side], position));
  element.replaceChildren(...a, createElement("br"), ...b);
}

function describeSide(
  comparison: Comparison,
  { groups }: AttentionPair,
  side: number,
  head: HeadIndex,
  { query, key }: QueryKey,
) {
  const group = groups[side];
  const [queries, keys] = [comparison.tokens(side, group.queries), comparison.tokens(side, group.keys)];
  const letter = "AB"[side];
  if (query === null || !queries[query]) return [`${letter} has no such token`];
  const weight = comparison.weights(side, group, head);
  if (key !== null && keys[key]) {
    const number = weight(query, key);
    const words = Number.isNaN(number) ? " may not attend (mask)" : ` ${formatPlaces(number, 4)}`;
    return [`${letter}: `, quotedToken(queries[query]), " → ", quotedToken(keys[key]), words];
  }
  const shares = keys.map((_, place) => weight(query, place));
  const list = largestShares(shares, keys, " attends to ");
  return [`${letter}: `, quotedToken(queries[query]), ...(list.length ? list : [` attends to ${NO_LARGE_SHARE}`])];
}
