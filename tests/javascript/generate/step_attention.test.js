// Attention rows of a step.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  attentionRow,
  groupOf,
  headRow,
  openRowText,
  pooledCodes,
  stepCodes,
} from "../../../app/headlight_app/generate/frontend/attention_rows.ts";

/** @import { AttentionGroupAnswer, StepRecord } from "../../../app/headlight_app/generate/frontend/types.ts" */

const GROUP = /** @type {AttentionGroupAnswer} */ ({
  name: "decoder.self",
  title: "Decoder",
  layers: 2,
  heads: 2,
  keys: "text",
  columns: 2,
  offset: 1,
});
/** @type {AttentionGroupAnswer} */
const CROSS = { ...GROUP, name: "decoder.cross", keys: "source", columns: 1, offset: 9 };
const NUMBERS = Float32Array.of(-1, 1, 0, 0.5, 0.5, 0, 1, 0.25, 0.75, 1, 1, 1, 1);
const RECORD = /** @type {StepRecord} */ ({ attention_groups: [GROUP, CROSS], numbers: NUMBERS });

test("the attention with the given name is shown, else the first", () => {
  assert.equal(groupOf(RECORD, "decoder.cross"), CROSS);
  assert.equal(groupOf(RECORD, ""), GROUP);
});

test("a head's row is found by its layer and number", () => {
  assert.deepEqual([...headRow(RECORD, GROUP, 0, 1)], [0.5, 0.5]);
  assert.deepEqual([...headRow(RECORD, GROUP, 1, 1)], [0.25, 0.75]);
});

test("a mean is over a layer's heads, or over all", () => {
  assert.deepEqual([...attentionRow(RECORD, GROUP, { blend: "head", layer: 1, head: 0 })], [0, 1]);
  assert.deepEqual([...attentionRow(RECORD, GROUP, { blend: "layer", layer: 0, head: 1 })], [0.75, 0.25]);
  assert.deepEqual([...attentionRow(RECORD, GROUP, { blend: "all", layer: 0, head: 0 })], [0.4375, 0.5625]);
});

test("a token that is not yet chosen is named by its mask, or “next…”", () => {
  const record = /** @type {StepRecord} */ ({ position: 1 });
  const tokens = [{ text: "the" }, { text: "[MASK]" }];
  assert.equal(openRowText(record, tokens, "fill"), "[MASK]");
  assert.equal(openRowText(record, tokens, "continue"), "next…");
});

test("a stripe shows the largest weight of each block", () => {
  assert.deepEqual([...pooledCodes(Float32Array.of(0, 1, 0.25, 0), 2)], [255, 128]);
});

test("keys that a step has not yet read are empty on the map", () => {
  const longer = /** @type {StepRecord} */ ({
    attention_groups: [{ ...GROUP, layers: 1, heads: 1, columns: 3, offset: 0 }],
    numbers: Float32Array.of(1, 0, 0.25),
  });
  assert.deepEqual(
    [...stepCodes([RECORD, longer], GROUP.name, { blend: "head", layer: 0, head: 0 }, 3)],
    [255, 1, 0, 255, 1, 128],
  );
});
