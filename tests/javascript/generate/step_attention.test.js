// Attention rows of a step, and the key/value cache in words.

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
import { cellCount, describeCache, formatBytes } from "../../../app/headlight_app/generate/frontend/kv_cache.ts";

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

test("sizes have a readable unit", () => {
  assert.deepEqual([12, 999, 1_000, 12_345, 2.5e6, 3e9].map(formatBytes), [
    "12 bytes",
    "999 bytes",
    "1.00 kB",
    "12.3 kB",
    "2.50 MB",
    "3.00 GB",
  ]);
});

test("the cache's picture doubles in length, up to the model's context", () => {
  assert.deepEqual(
    [1, 32, 33, 100, 200].map((length) => cellCount(length, 150)),
    [32, 32, 64, 128, 150],
  );
});

test("the cached numbers are counted, and the savings of shared heads", () => {
  const layer = { tokens: 10, key_value_heads: 2, key_dim: 8, value_dim: 8, element_size: 4, bytes: 1_280 };
  const record = /** @type {StepRecord} */ ({
    cache: { layers: [layer, layer], model_layers: 2, heads: 6, reason: "" },
    context: 256,
  });
  const words = describeCache(record);
  assert.match(words, /2 layers × 2 heads × \(8 \+ 8\) = 64 numbers of 4 bytes, 256 bytes/);
  assert.match(words, /Cached for 10 tokens: 2\.56 kB; for 256, .* 65\.5 kB/);
  assert.match(words, /6 query heads share 2 key\/value heads: .* 7\.68 kB, 3 times as much/);
  const unshared = { ...record, cache: { ...record.cache, heads: 2 } };
  assert.doesNotMatch(describeCache(unshared), /share/);
  const wide = { ...layer, key_value_heads: 1, key_dim: 16, value_dim: 16, bytes: 1_280 };
  const unlike = { ...record, cache: { ...record.cache, layers: [layer, layer, wide], model_layers: 5 } };
  const told = describeCache(unlike);
  assert.match(told, /in every head of 3 of 5 layers \(the others share them\)/);
  assert.match(told, /2 layers × 2 heads × \(8 \+ 8\) \+ 1 layer × 1 head × \(16 \+ 16\) = 96 numbers of 4 bytes, 384/);
  assert.match(told, /6 query heads share 2 or 1 key\/value heads: .* 15\.4 kB, 4 times as much/);
});
