// The answer to a comparison: correspondence, weights and distances.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Comparison } from "../../../app/headlight_app/compare/frontend/comparison.ts";
import { weightDifference } from "../../../app/headlight_app/compare/frontend/difference.ts";
import { GROUP, token } from "../explore/page.js";

/** @import { AttentionGroupAnswer, CompareAnswer, Question } from "../../../app/headlight_app/compare/frontend/types.ts" */

/** @param {number} rows @param {number} offset @returns {AttentionGroupAnswer} */
function group(rows, offset) {
  return { ...GROUP, layers: 1, heads: 2, rows, columns: rows, pooled_shape: [rows, rows], offset };
}

const FORBIDDEN = 0;
const ONE = 255;
const ZERO = 1;
const QUARTER = 128;
const HEADS = [
  { layer: 0, head: 1 },
  { layer: 0, head: 1 },
];

/** A has two tokens, B three; the last two equal A's. */
function comparison() {
  /** @type {CompareAnswer} */
  const answer = {
    sides: [
      { tokens: ["We", " eat"].map(token), source_tokens: null, attention_groups: [group(2, 0)], notes: [] },
      {
        tokens: ["If", " we", " eat"].map(token),
        source_tokens: null,
        attention_groups: [group(3, 8)],
        notes: ["Other positions."],
      },
    ],
    alignment: "tokens",
    alignments: {
      text: [
        [0, 1],
        [1, 2],
      ],
    },
    attentions: [
      { left_name: "decoder.self", right_name: "decoder.self", title: "Decoder", most_distant: [0, 1], rows: [] },
    ],
    positions: [],
    rows: [],
    milliseconds: 3,
  };
  const bytes = new Uint8Array(8 + 18).fill(9);
  bytes.set([ONE, FORBIDDEN, QUARTER, QUARTER], 4);
  bytes.set([ONE, FORBIDDEN, FORBIDDEN, ZERO, ONE, FORBIDDEN, ZERO, QUARTER, ONE], 8 + 9);
  const question = /** @type {Question} */ ({});
  return new Comparison(answer, bytes, [question, question]);
}

/** @param {Comparison} answer */
function shown(answer) {
  const attention = answer.attention("");
  assert.ok(attention);
  return attention;
}

test("positions have partners on the other side, or none", () => {
  const answer = comparison();
  assert.equal(answer.partner(0, "text", 0), 1);
  assert.equal(answer.partner(1, "text", 2), 1);
  assert.equal(answer.partner(1, "text", 0), null);
  assert.equal(answer.partner(0, "source", 0), null);
  assert.equal(answer.partner(0, "text", null), null);
});

test("predictions are for the chosen token, by default the last", () => {
  const answer = comparison();
  assert.deepEqual(answer.queryPositions(0), [0, 1]);
  assert.deepEqual(answer.queryPositions(-1), [1, 2]);
  assert.deepEqual(answer.queryPositions(17), [1, 2]);
});

test("weights are decoded from the head's bytes; forbidden cells are NaN", () => {
  const answer = comparison();
  const weight = answer.weights(0, shown(answer).groups[0], HEADS[0]);
  assert.deepEqual([weight(0, 0), weight(0, 1), weight(1, 0)], [1, Number.NaN, 0.25]);
});

test("attentions are found by name; the default is the first", () => {
  const answer = comparison();
  assert.equal(answer.attention("decoder.self")?.title, "Decoder");
  assert.equal(answer.attention("unknown")?.left_name, "decoder.self");
});

test("weights are exact once they are fetched", async () => {
  const answer = comparison();
  const [one] = shown(answer).groups;
  const fetched = () => Promise.resolve(Float32Array.of(0.9, 0.1, 0.3, 0.7));
  assert.equal(await answer.fetchExact(0, one, HEADS[0], fetched), true);
  assert.equal(await answer.fetchExact(0, one, HEADS[0], fetched), false);
  const weight = answer.weights(0, one, HEADS[0]);
  assert.equal(weight(1, 1), Math.fround(0.7));
  assert.ok(Number.isNaN(weight(0, 1)));
});

test("a failed fetch of weights is retried", async () => {
  const answer = comparison();
  const [one] = shown(answer).groups;
  assert.equal(await answer.fetchExact(0, one, HEADS[0], () => Promise.reject(new Error("lost"))), false);
  assert.equal(await answer.fetchExact(0, one, HEADS[0], () => Promise.resolve(new Float32Array(4))), true);
});

test("a cell of one side is mapped to the other", () => {
  const answer = comparison();
  const attention = shown(answer);
  assert.deepEqual(answer.onBothSides(attention, 0, { query: 1, key: 0 }), [
    { query: 1, key: 0 },
    { query: 2, key: 1 },
  ]);
  assert.deepEqual(answer.onBothSides(attention, 1, { query: 0, key: null }), [
    { query: null, key: null },
    { query: 0, key: null },
  ]);
});

test("the difference of corresponding tokens is B minus A", () => {
  const answer = comparison();
  const { queries, codes, extent } = weightDifference(answer, shown(answer), HEADS);
  assert.deepEqual(queries, [
    [0, 1],
    [1, 2],
  ]);
  assert.equal(extent, 0.75);
  assert.deepEqual([...codes], [128, 0, 128, 255]);
});

test("differences of rounding size have no colour", () => {
  const answer = comparison();
  answer.weights = (side) => () => 0.5 + side * 1e-6;
  assert.ok([...weightDifference(answer, shown(answer), HEADS).codes].every((code) => code === 128));
});
