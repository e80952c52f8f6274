// The ledger of a cell: its largest pairs of writers, and the model's part for each path.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  carriedWords,
  largestPairs,
  largestWriters,
  looking,
  writerOf,
} from "../../../app/headlight_app/explore/frontend/prediction/ledger.js";

test("pairs are listed by absolute size", () => {
  const pairs = largestPairs(["a", "b"], ["c", "d", "e"], [0.5, -3, 1, 0.1, 2, -0.2]);
  assert.deepEqual(
    pairs.map(({ query, key, value }) => `${query} ${key} ${value}`),
    ["a d -3", "b d 2", "a e 1", "a c 0.5", "b e -0.2"],
  );
});

test("a token with a tiny weight is not said to be looked at", () => {
  assert.deepEqual([0.9, 0.02, 0.003, 0].map(looking), [
    " looks at ",
    " looks at ",
    " hardly looks at ",
    " hardly looks at ",
  ]);
});

test("no share is given along the direction of values that cancel", () => {
  const meta = { weight: 0.5, length_share: 0.4, direction_share: -0.7 };
  assert.match(carriedWords(meta), /40\.0 % of the head's output by length, −70\.0 % along its direction\.$/);
  assert.match(carriedWords({ ...meta, direction_share: null }), /no share, because the head's values cancel\.$/);
});

test("a path names a head, a network, or a part outside the layers", () => {
  assert.deepEqual(writerOf("decoder.0.self[3]"), { kind: "self", layer: 0, head: 3 });
  assert.deepEqual(writerOf("decoder.2.feed_forward"), { kind: "feed_forward", layer: 2, head: -1 });
  assert.deepEqual(writerOf("decoder.1.bias"), { kind: "bias", layer: 1, head: -1 });
  assert.deepEqual(writerOf("encoder.position_embedding"), { kind: "positions", layer: -1, head: -1 });
  assert.deepEqual(writerOf("decoder.embedding"), { kind: "embedding", layer: -1, head: -1 });
});

test("the matrix has the largest writers of each side, and one more line for the rest", () => {
  const names = (/** @type {number} */ count) =>
    Array.from({ length: count }, (_, place) => `decoder.0.self[${place}]`);
  const parts = Array.from({ length: 7 * 2 }, (_, place) => (place === 12 ? -9 : place / 10));
  const meta = /** @type {any} */ ({ query_writers: names(7), key_writers: names(2) });
  const { rows, columns, values } = largestWriters(meta, parts);
  assert.deepEqual([rows[0], columns[0], values.length, values[0].length], [6, 0, 6, 2]);
  const sum = (/** @type {number[]} */ numbers) => numbers.reduce((total, number) => total + number, 0);
  assert.ok(Math.abs(sum(values.flat()) - sum(parts)) < 1e-9);
  assert.equal(values[0][0], -9);
});
