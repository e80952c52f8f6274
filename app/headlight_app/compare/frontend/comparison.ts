// The answer to a comparison: both sides' tokens and heads, the corresponding tokens, and fetched exact weights.

import { post } from "../../ui/frontend/server.ts";
import type { ViewRow } from "../../ui/frontend/views/types.ts";
import { decodeWeight } from "../../ui/frontend/weight_code.ts";
import type { Packed } from "../../ui/frontend/wire.ts";
import type {
  AttentionGroupAnswer,
  Axis,
  CompareAnswer,
  ComparedAttention,
  HeadIndex,
  PositionPair,
  QueryKey,
  Question,
  Refusable,
  Token,
} from "./types.ts";

/** With the group of each side. */
export type AttentionPair = Omit<ComparedAttention, "rows"> & {
  groups: [AttentionGroupAnswer, AttentionGroupAnswer];
  rows: ViewRow[];
};

export class Comparison {
  milliseconds;
  /** The predictions of both sides as views. */
  rows;
  attentions;
  alignment;
  questions: [Question, Question];

  #answer;
  #bytes;
  /** For each axis, the partners of A's positions, and of B's positions. */
  #partners: Map<Axis, [Map<number, number>, Map<number, number>]> = new Map();
  /** Exact weights by side and head; null while they are being fetched. */
  #exact: Map<string, Float32Array | null> = new Map();

  /** @param bytes the weights of all heads, a byte each @param questions the compared questions */
  constructor(answer: CompareAnswer, bytes: Uint8Array, questions: [Question, Question]) {
    this.#answer = answer;
    this.milliseconds = answer.milliseconds;
    this.rows = answer.rows as unknown as ViewRow[];
    this.attentions = answer.attentions;
    this.alignment = answer.alignment; // how tokens were matched
    this.#bytes = bytes;
    this.questions = questions;
    for (const axis of ["text", "source"] as Axis[]) {
      const pairs = this.pairs(axis);
      this.#partners.set(axis, [new Map(pairs), new Map(pairs.map(([a, b]) => [b, a]))]);
    }
  }

  /** The positions of the predictions in A and in B. */
  get positions() {
    return this.#answer.positions;
  }

  notes(side: number) {
    return this.#answer.sides[side].notes;
  }

  tokens(side: number, axis: Axis): Token[] {
    const { tokens, source_tokens } = this.#answer.sides[side];
    return (axis === "source" ? source_tokens : tokens) || [];
  }

  /** The last position of A. */
  get lastPosition() {
    return this.tokens(0, "text").length - 1;
  }

  pairs(axis: Axis): PositionPair[] {
    return this.#answer.alignments[axis] || [];
  }

  /** The corresponding position on the other side, or null. */
  partner(side: number, axis: Axis, position: number | null) {
    return position === null ? null : (this.#partners.get(axis)?.[side].get(position) ?? null);
  }

  /** The compared attentions of a name, else the first; null if the models have none in common. */
  attention(name: string): AttentionPair | null {
    const found = this.attentions.find((one) => one.left_name === name) || this.attentions[0];
    if (!found) return null;
    const [a, b] = this.#answer.sides;
    return {
      ...found,
      rows: found.rows as unknown as ViewRow[],
      groups: [groupNamed(a.attention_groups, found.left_name), groupNamed(b.attention_groups, found.right_name)],
    };
  }

  /** The byte codes of one head, [row column] of the group's cells. */
  codes(group: AttentionGroupAnswer, { layer, head }: HeadIndex) {
    const size = group.pooled_shape[0] * group.pooled_shape[1];
    const start = group.offset + (layer * group.heads + head) * size;
    return this.#bytes.subarray(start, start + size);
  }

  /** Reads single weights of a head: exact if fetched, else from their byte codes; NaN if masked. */
  weights(side: number, group: AttentionGroupAnswer, head: HeadIndex): (query: number, key: number) => number {
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

  /** The exact weights of a head, [query key], or null. */
  exact(side: number, group: AttentionGroupAnswer, head: HeadIndex) {
    return this.#exact.get(`${side} ${weightsPath(group, head)}`) ?? null;
  }

  /**
   * Fetches the exact weights of a head unless they are fetched or requested already. Returns whether they arrived.
   * @param fetchWeights null: not available
   */
  async fetchExact(
    side: number,
    group: AttentionGroupAnswer,
    head: HeadIndex,
    fetchWeights: () => Promise<Float32Array | null>,
  ) {
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
   * @param query a position in A, or -1
   */
  queryPositions(query: number): [number, number | null] {
    const { positions, sides } = this.#answer;
    if (query >= 0 && query < sides[0].tokens.length) return [query, this.partner(0, "text", query)];
    const last = this.lastPosition;
    return positions[0] ?? [last, this.partner(0, "text", last) ?? sides[1].tokens.length - 1];
  }

  /** A query and key of one side, translated to both sides. */
  onBothSides({ groups }: AttentionPair, side: number, { query, key }: QueryKey): [QueryKey, QueryKey] {
    const { queries, keys } = groups[side];
    const partner = { query: this.partner(side, queries, query), key: this.partner(side, keys, key) };
    return side === 0 ? [{ query, key }, partner] : [partner, { query, key }];
  }
}

/** The path of a head's weights, as in edits. */
function weightsPath(group: AttentionGroupAnswer, { layer, head }: HeadIndex) {
  return `${group.stack}.${layer}.${group.kind}.weights[${head}]`;
}

/** The exact weights of one head, [query key]; null if the server has none. */
export async function fetchWeights(
  api: string,
  question: Question,
  { stack, kind }: AttentionGroupAnswer,
  { layer, head }: HeadIndex,
) {
  const body = { question, path: `${stack}.${layer}.${kind}.weights`, head };
  const { meta, start, buffer }: Packed<Refusable<object>> = await post(api, "head_matrix", body);
  return meta.error ? null : new Float32Array(buffer, start);
}

function groupNamed(groups: AttentionGroupAnswer[], name: string) {
  const group = groups.find((one) => one.name === name);
  if (!group) throw new Error(`The answer has no attention ${name}.`);
  return group;
}
