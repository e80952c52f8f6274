// The answer to a comparison: both sides' tokens and heads, the corresponding tokens, and fetched exact weights.

import { post } from "../../ui/frontend/server.js";
import { decodeWeight } from "../../ui/frontend/weight_code.js";

/** @import { Packed } from "../../ui/frontend/wire.js" */
/** @import { AttentionGroupAnswer, Axis, ComparedAttention, CompareAnswer, HeadIndex, PositionPair, QueryKey, Question, Refusable, Token } from "./types.d.ts" */
/** @typedef {ComparedAttention & { groups: [AttentionGroupAnswer, AttentionGroupAnswer] }} AttentionPair with the group of each side */

export const LEAST_RANGE = 0.01; // minimum range of the colours: values printed as 0.00 look like zero
const LEAST_DISTANCE = 0.25; // minimum distance of the strongest colour, so that small differences stay pale

export class Comparison {
  #answer;
  #bytes;
  /**
   * For each axis, the partners of A's positions, and of B's positions.
   * @type {Map<Axis, [Map<number, number>, Map<number, number>]>}
   */
  #partners = new Map();
  /** Exact weights by side and head; null while they are being fetched. @type {Map<string, Float32Array | null>} */
  #exact = new Map();

  /**
   * @param {CompareAnswer} answer @param {Uint8Array} bytes the weights of all heads, a byte each
   * @param {[Question, Question]} questions the compared questions
   */
  constructor(answer, bytes, questions) {
    this.#answer = answer;
    this.milliseconds = answer.milliseconds;
    this.predictions = answer.predictions;
    this.attentions = answer.attentions;
    this.alignment = answer.alignment; // how tokens were matched
    this.#bytes = bytes;
    this.questions = questions;
    for (const axis of /** @type {Axis[]} */ (["text", "source"])) {
      const pairs = this.pairs(axis);
      this.#partners.set(axis, [new Map(pairs), new Map(pairs.map(([a, b]) => [b, a]))]);
    }
  }

  /** @param {number} side */
  notes(side) {
    return this.#answer.sides[side].notes;
  }

  /** @param {number} side @param {Axis} axis @returns {Token[]} */
  tokens(side, axis) {
    const { tokens, source_tokens } = this.#answer.sides[side];
    return (axis === "source" ? source_tokens : tokens) || [];
  }

  /** The last position of A. */
  get lastPosition() {
    return this.tokens(0, "text").length - 1;
  }

  /** @param {Axis} axis @returns {PositionPair[]} */
  pairs(axis) {
    return this.#answer.alignments[axis] || [];
  }

  /**
   * The corresponding position on the other side, or null.
   * @param {number} side @param {Axis} axis @param {number | null} position
   */
  partner(side, axis, position) {
    return position === null ? null : (this.#partners.get(axis)?.[side].get(position) ?? null);
  }

  /**
   * The compared attentions of a name, else the first; null if the models have none in common.
   * @param {string} name @returns {AttentionPair | null}
   */
  attention(name) {
    const found = this.attentions.find((one) => one.left_name === name) || this.attentions[0];
    if (!found) return null;
    const [a, b] = this.#answer.sides;
    return {
      ...found,
      groups: [groupNamed(a.attention_groups, found.left_name), groupNamed(b.attention_groups, found.right_name)],
    };
  }

  /**
   * The byte codes of one head, [row column] of the group's cells.
   * @param {AttentionGroupAnswer} group @param {HeadIndex} head
   */
  codes(group, { layer, head }) {
    const size = group.pooled_shape[0] * group.pooled_shape[1];
    const start = group.offset + (layer * group.heads + head) * size;
    return this.#bytes.subarray(start, start + size);
  }

  /**
   * Reads single weights of a head: exact if fetched, else from their byte codes; NaN if masked.
   * @param {number} side @param {AttentionGroupAnswer} group @param {HeadIndex} head
   * @returns {(query: number, key: number) => number}
   */
  weights(side, group, head) {
    const [rows, columns] = group.pooled_shape;
    const codes = this.codes(group, head);
    const exact = this.exact(side, group, head);
    return (query, key) => {
      const row = Math.min(Math.floor((query * rows) / group.rows), rows - 1);
      const column = Math.min(Math.floor((key * columns) / group.columns), columns - 1);
      const code = codes[row * columns + column];
      return exact && code !== 0 ? exact[query * group.columns + key] : decodeWeight(code);
    };
  }

  /**
   * The exact weights of a head, [query key], or null.
   * @param {number} side @param {AttentionGroupAnswer} group @param {HeadIndex} head
   */
  exact(side, group, head) {
    return this.#exact.get(`${side} ${weightsPath(group, head)}`) ?? null;
  }

  /**
   * Fetches the exact weights of a head unless they are fetched or requested already. Returns whether they arrived.
   * @param {number} side @param {AttentionGroupAnswer} group @param {HeadIndex} head
   * @param {() => Promise<Float32Array | null>} fetchWeights null: not available
   */
  async fetchExact(side, group, head, fetchWeights) {
    const key = `${side} ${weightsPath(group, head)}`;
    if (this.#exact.has(key)) return false;
    this.#exact.set(key, null);
    try {
      const weights = await fetchWeights();
      this.#exact.set(key, weights);
      return weights !== null;
    } catch {
      this.#exact.delete(key); // retried when the head is shown again
      return false;
    }
  }

  /**
   * The position of each side's prediction; without a choice, the first masked position, or the last.
   * @param {number} query a position in A, or -1 @returns {[number, number | null]}
   */
  queryPositions(query) {
    const { predictions, sides } = this.#answer;
    if (query >= 0 && query < sides[0].tokens.length) return [query, this.partner(0, "text", query)];
    const last = this.lastPosition;
    return predictions[0]?.positions || [last, this.partner(0, "text", last) ?? sides[1].tokens.length - 1];
  }

  /**
   * A query and key of one side, translated to both sides.
   * @param {AttentionPair} attention @param {number} side @param {QueryKey} position @returns {[QueryKey, QueryKey]}
   */
  onBothSides({ groups }, side, { query, key }) {
    const { queries, keys } = groups[side];
    const partner = { query: this.partner(side, queries, query), key: this.partner(side, keys, key) };
    return side === 0 ? [{ query, key }, partner] : [partner, { query, key }];
  }
}

/** The path of a head's weights, as in edits. @param {AttentionGroupAnswer} group @param {HeadIndex} head */
function weightsPath(group, { layer, head }) {
  return `${group.stack}.${layer}.${group.kind}.weights[${head}]`;
}

/**
 * The head that differs most; the first head if none differs.
 * @param {ComparedAttention} attention @returns {HeadIndex}
 */
export function mostDistantHead({ distance }) {
  const [{ layer, head } = { layer: 0, head: 0 }] = rankedHeads(distance, -1);
  return { layer, head };
}

const TIE = 1e-5; // distances closer than this are equal up to rounding, and sorted by head

/**
 * Heads by their distance, the largest first.
 * @param {(number | null)[][]} distance [layer head]; null: nothing to compare
 * @param {number} above which distances count
 */
export function rankedHeads(distance, above) {
  return distance
    .flatMap((row, layer) => row.map((number, head) => ({ layer, head, distance: number ?? -1 })))
    .filter((one) => one.distance > above)
    .sort((a, b) => Math.round(b.distance / TIE) - Math.round(a.distance / TIE));
}

/**
 * Distances as byte codes, 0 if not comparable, and the distance of the strongest colour.
 * @param {(number | null)[][]} distance [layer head]
 */
export function distanceCodes(distance) {
  const all = distance.flat();
  const high = Math.max(...all.map((number) => number ?? 0), LEAST_DISTANCE);
  return {
    high,
    codes: Uint8Array.from(all, (number) => (number === null ? 0 : 1 + Math.round((254 * number) / high))),
  };
}

/**
 * The exact weights of one head, [query key]; null if the server has none.
 * @param {string} api @param {Question} question @param {AttentionGroupAnswer} group @param {HeadIndex} head
 */
export async function fetchWeights(api, question, { stack, kind }, { layer, head }) {
  const body = { question, path: `${stack}.${layer}.${kind}.weights`, head };
  /** @type {Packed<Refusable<object>>} */
  const { meta, start, buffer } = await post(api, "head_matrix", body);
  return meta.error ? null : new Float32Array(buffer, start);
}

/** @param {AttentionGroupAnswer[]} groups @param {string} name */
function groupNamed(groups, name) {
  const group = groups.find((one) => one.name === name);
  if (!group) throw new Error(`The answer has no attention ${name}.`);
  return group;
}
