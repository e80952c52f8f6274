// The binary format of answers and weights.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeWeight, encodeWeight } from "../../../app/headlight_app/ui/frontend/weight_code.ts";
import { readFloats, unpack } from "../../../app/headlight_app/ui/frontend/wire.ts";

/** An answer as app/headlight_app/contract/reply.py packs it. @param {unknown} meta @param {Uint8Array} numbers */
function pack(meta, numbers) {
  const text = new TextEncoder().encode(JSON.stringify(meta));
  const start = Math.ceil((4 + text.length) / 4) * 4;
  const bytes = new Uint8Array(start + numbers.length);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  bytes.set(numbers, start);
  return bytes.buffer;
}

test("an answer is JSON, then numbers", () => {
  const numbers = Float32Array.of(0.5, -2, 3);
  for (const word of ["", "a", "ab", "abc", "日本"]) {
    const { meta, start, buffer } = unpack(pack({ word }, new Uint8Array(numbers.buffer)));
    assert.deepEqual(meta, { word });
    assert.deepEqual(new Float32Array(buffer, start), numbers);
  }
});

test("single bytes may follow the numbers", () => {
  const { start, buffer } = unpack(pack({}, Uint8Array.of(0, 0, 128, 63, 7, 7)));
  assert.deepEqual(readFloats(buffer, start), Float32Array.of(1));
});

test("an answer without numbers has none", () => {
  const { start, buffer } = unpack(pack({ error: "no" }, new Uint8Array()));
  assert.equal(readFloats(buffer, start).length, 0);
});

test("a weight's byte distinguishes small weights, and is 0 for a forbidden cell", () => {
  assert.equal(encodeWeight(Number.NaN), 0);
  assert.ok(Number.isNaN(decodeWeight(0)));
  assert.deepEqual([0, 1, 1.5, -0.5].map(encodeWeight), [1, 255, 255, 1]);
  assert.notEqual(encodeWeight(0.0001), encodeWeight(0));
  for (const weight of [0, 0.001, 0.02, 0.3, 0.77, 1])
    assert.ok(Math.abs(decodeWeight(encodeWeight(weight)) - weight) < 0.004);
});
