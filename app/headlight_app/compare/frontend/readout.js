// The marked cell of both sides in words, or the most attended key of the marked query.

import { createElement, largestShares, NO_LARGE_SHARE, quotedToken } from "../../ui/frontend/dom/dom.js";

/** @import { AttentionPair, Comparison } from "./comparison.js" */
/** @import { HeadIndex, QueryKey } from "./types.d.ts" */

/**
 * @param {HTMLElement} element @param {Comparison} comparison @param {AttentionPair} attention
 * @param {HeadIndex[]} heads of each side @param {QueryKey[]} positions on each side
 */
export function drawReadout(element, comparison, attention, heads, positions) {
  const [a, b] = positions.map((position, side) => describeSide(comparison, attention, side, heads[side], position));
  element.replaceChildren(...a, createElement("br"), ...b);
}

/**
 * @param {Comparison} comparison @param {AttentionPair} attention @param {number} side @param {HeadIndex} head
 * @param {QueryKey} position
 */
function describeSide(comparison, { groups }, side, head, { query, key }) {
  const group = groups[side];
  const [queries, keys] = [comparison.tokens(side, group.queries), comparison.tokens(side, group.keys)];
  const letter = "AB"[side];
  if (query === null || !queries[query]) return [`${letter} has no such token`];
  const weight = comparison.weights(side, group, head);
  if (key !== null && keys[key]) {
    const number = weight(query, key);
    const words = Number.isNaN(number) ? " may not attend (mask)" : ` ${number.toFixed(4)}`;
    return [`${letter}: `, quotedToken(queries[query]), " → ", quotedToken(keys[key]), words];
  }
  const shares = keys.map((_, place) => weight(query, place));
  const list = largestShares(shares, keys, " attends to ");
  return [`${letter}: `, quotedToken(queries[query]), ...(list.length ? list : [` attends to ${NO_LARGE_SHARE}`])];
}
