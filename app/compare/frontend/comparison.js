// The answer to a comparison: both sides' tokens and heads, what corresponds, and exact weights once they have been fetched.

import { decodeWeight } from "../../ui/frontend/weight_code.js";

/** @import { AttentionGrid, Axis, ComparedAttention, CompareAnswer, HeadIndex, PositionPair, QueryKey, Question, Token } from "./types.d.ts" */
/** @typedef {ComparedAttention & { grids: [AttentionGrid, AttentionGrid] }} AttentionPair with the grid of each side */

export class Comparison {
  #answer;
  #bytes;
  /** For each axis the partner of a position in A, and of one in B. @type {Map<Axis, [Map<number, number>, Map<number, number>]>} */
  #partners = new Map();
  /** Exact weights by side and head; null while they are on their way. @type {Map<string, Float32Array | null>} */
  #exact = new Map();

  /**
   * @param {CompareAnswer} answer
   * @param {Uint8Array} bytes the weights of all heads, a byte each
   * @param {[Question, Question]} questions that were asked
   */
  constructor(answer, bytes, questions) {
    this.#answer = answer;
    this.#bytes = bytes;
    this.questions = questions;
    for (const axis of /** @type {Axis[]} */ (["text", "source"])) {
      const pairs = this.pairs(axis);
      this.#partners.set(axis, [new Map(pairs), new Map(pairs.map(([a, b]) => [b, a]))]);
    }
  }

  get milliseconds() {
    return this.#answer.milliseconds;
  }

  get predictions() {
    return this.#answer.predictions;
  }

  get attentions() {
    return this.#answer.attentions;
  }

  /** @param {number} side */
  notes(side) {
    return this.#answer.sides[side].notes;
  }

  /**
   * @param {number} side
   * @param {Axis} axis
   * @returns {Token[]}
   */
  tokens(side, axis) {
    const { tokens, sourceTokens } = this.#answer.sides[side];
    return (axis === "source" ? sourceTokens : tokens) || [];
  }

  /** The last position of A. */
  get lastPosition() {
    return this.tokens(0, "text").length - 1;
  }

  /**
   * @param {Axis} axis
   * @returns {PositionPair[]}
   */
  pairs(axis) {
    return this.#answer.pairs[axis] || [];
  }

  /**
   * The corresponding position on the other side, or null.
   * @param {number} side
   * @param {Axis} axis
   * @param {number | null} position
   */
  partner(side, axis, position) {
    return position === null ? null : (this.#partners.get(axis)?.[side].get(position) ?? null);
  }

  /**
   * The attentions that are compared: those of that name, else the first; null where the models have none in common.
   * @param {string} name
   * @returns {AttentionPair | null}
   */
  attention(name) {
    const found = this.attentions.find((one) => one.name === name) || this.attentions[0];
    if (!found) return null;
    const [a, b] = this.#answer.sides;
    return { ...found, grids: [gridNamed(a.grids, found.name), gridNamed(b.grids, found.other)] };
  }

  /**
   * The byte codes of one head, [row column] of the grid's cells.
   * @param {AttentionGrid} grid
   * @param {HeadIndex} head
   */
  codes(grid, { layer, head }) {
    const size = grid.cells[0] * grid.cells[1];
    const start = grid.offset + (layer * grid.heads + head) * size;
    return this.#bytes.subarray(start, start + size);
  }

  /**
   * Reads single weights of a head: exact where they have been fetched, else from their bytes; NaN where attending is forbidden.
   * @param {number} side
   * @param {AttentionGrid} grid
   * @param {HeadIndex} head
   * @returns {(query: number, key: number) => number}
   */
  weights(side, grid, head) {
    const [rows, columns] = grid.cells;
    const codes = this.codes(grid, head);
    const exact = this.exact(side, grid, head);
    return (query, key) => {
      const row = Math.min(Math.floor((query * rows) / grid.rows), rows - 1);
      const column = Math.min(Math.floor((key * columns) / grid.columns), columns - 1);
      const code = codes[row * columns + column];
      return exact && code !== 0 ? exact[query * grid.columns + key] : decodeWeight(code);
    };
  }

  /**
   * The exact weights of a head, [query key], or null.
   * @param {number} side
   * @param {AttentionGrid} grid
   * @param {HeadIndex} head
   */
  exact(side, grid, head) {
    return this.#exact.get(`${side} ${weightsPath(grid, head)}`) ?? null;
  }

  /**
   * Fetches the exact weights of a head, unless they are here or on their way. Whether they came.
   * @param {number} side
   * @param {AttentionGrid} grid
   * @param {HeadIndex} head
   * @param {() => Promise<Float32Array | null>} fetchWeights null: there are none
   */
  async fetchExact(side, grid, head, fetchWeights) {
    const key = `${side} ${weightsPath(grid, head)}`;
    if (this.#exact.has(key)) return false;
    this.#exact.set(key, null);
    try {
      const weights = await fetchWeights();
      this.#exact.set(key, weights);
      return weights !== null;
    } catch {
      this.#exact.delete(key); // fetched again when it is shown again
      return false;
    }
  }

  /**
   * The position of each side that predictions speak of; without a choice the first masked one, or the last.
   * @param {number} query a position in A, or -1
   * @returns {[number, number | null]}
   */
  queryPositions(query) {
    const { predictions, sides } = this.#answer;
    if (query >= 0 && query < sides[0].tokens.length) return [query, this.partner(0, "text", query)];
    return predictions[0]?.places || [sides[0].tokens.length - 1, sides[1].tokens.length - 1];
  }

  /**
   * A query and key of one side as both sides see it.
   * @param {AttentionPair} attention
   * @param {number} side
   * @param {QueryKey} position
   * @returns {[QueryKey, QueryKey]}
   */
  onBothSides({ grids }, side, { query, key }) {
    const { queries, keys } = grids[side];
    const partner = { query: this.partner(side, queries, query), key: this.partner(side, keys, key) };
    return side === 0 ? [{ query, key }, partner] : [partner, { query, key }];
  }
}

/**
 * The path of a head's weights as edits name it.
 * @param {AttentionGrid} grid
 * @param {HeadIndex} head
 */
export function weightsPath(grid, { layer, head }) {
  return `${grid.stack}.${layer}.${grid.kind}.weights[${head}]`;
}

/**
 * The edit that switches a head off.
 * @param {AttentionGrid} grid
 * @param {HeadIndex} head
 */
export function ablationEdit(grid, head) {
  return `${weightsPath(grid, head)}=set:0`;
}

/**
 * The head that differs most; the first one where none does.
 * @param {ComparedAttention} attention
 * @returns {HeadIndex}
 */
export function mostDistantHead({ distance }) {
  return rankedHeads(distance, -1)[0] ?? { layer: 0, head: 0 };
}

/**
 * Heads by their distance, the largest first.
 * @param {(number | null)[][]} distance [layer head]; null: nothing to compare
 * @param {number} above which distances count
 */
export function rankedHeads(distance, above) {
  return distance
    .flatMap((row, layer) => row.map((number, head) => ({ layer, head, distance: number ?? -1 })))
    .filter((one) => one.distance > above)
    .sort((a, b) => b.distance - a.distance);
}

/**
 * @param {AttentionGrid[]} grids
 * @param {string} name
 */
function gridNamed(grids, name) {
  const grid = grids.find((one) => one.name === name);
  if (!grid) throw new Error(`The answer has no attention ${name}.`);
  return grid;
}
