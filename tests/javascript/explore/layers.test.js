// The panels of "Layers" and the walkthrough, computed from the server's numbers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeColumns } from "../../../app/headlight_app/explore/frontend/layers/scrolling.js";
import { componentName } from "../../../app/headlight_app/explore/frontend/prediction/why.js";
import { splitValues } from "../../../app/headlight_app/explore/frontend/walkthrough/walkthrough.js";

/** @param {string} kind @param {number} layer @param {number} head @param {number} value */
const part = (kind, layer, head, value) => ({ kind, layer, head, value });
const PARTS = [
  part("embedding", -1, -1, 0),
  part("positions", -1, -1, 0),
  part("self", 0, 0, 1),
  part("self", 0, 1, -2),
  part("feed_forward", 0, -1, 3),
  part("bias", 0, -1, 0),
  part("bias", -1, -1, 0.5),
  part("edit", -1, -1, 0),
];

test("each part has a name", () => {
  assert.deepEqual(PARTS.map(componentName), [
    "Token embedding",
    "Added positions",
    "Layer 0, head 0",
    "Layer 0, head 1",
    "Layer 0, feed-forward",
    "Layer 0, biases",
    "Biases of embedding and answer",
    "Edits of the stream",
  ]);
  assert.equal(componentName(part("cross", 1, 2, 0)), "Layer 1, cross head 2");
  assert.equal(componentName(part("layer_embedding", 1, -1, 0)), "Layer 1, layer embedding");
});

test("each step of the walkthrough gets its own numbers", () => {
  const value = (/** @type {string} */ symbol, /** @type {number} */ count) => ({
    symbol,
    axis: count > 1 ? "key" : null,
    count,
  });
  const step = (/** @type {string} */ name, /** @type {ReturnType<typeof value>[]} */ values) => ({
    name,
    title: "",
    explanation: "",
    part: /** @type {const} */ ("head"),
    formula: "",
    edited: false,
    shapes: [],
    values,
  });
  const steps = [step("score", [value("s", 2), value("m", 1)]), step("weigh", [value("a", 2)])];
  const split = splitValues({
    meta: { query: 0, key: 0, answer: -1, answers: [], steps },
    numbers: Float32Array.of(1, 2, 3, 4, 5),
  });
  assert.deepEqual(
    split.map(({ values }) => values.map(({ numbers }) => [...numbers])),
    [[[1, 2], [3]], [[4, 5]]],
  );
});

test("a table opens at its beginning if that shows the token, else at the edge of a column", () => {
  const columns = [60, 160, 260, 360].map((left) => ({ left }));
  assert.equal(wholeColumns(columns, 60, 460, 500), 0);
  const scrolled = wholeColumns(columns, 60, 468, 400);
  assert.ok(scrolled + 400 >= 460, "the token is visible");
  assert.ok(
    columns.some(({ left }) => Math.abs(left - 60 - scrolled) <= 2),
    "no column is cut off by the headings",
  );
});
