// The part of a recording that a token listens to.

import assert from "node:assert/strict";
import { test } from "node:test";
import { middleHalf } from "../../../app/headlight_app/tasks/frontend/transcript/transcribe.js";

test("a span covers the middle half of the weights, however sharp they are", () => {
  assert.deepEqual(middleHalf(Float32Array.of(0, 0, 1, 0)), [2, 2]);
  assert.deepEqual(middleHalf(Float32Array.of(0.25, 0.25, 0.25, 0.25)), [0, 2]);
  assert.deepEqual(middleHalf(Float32Array.of(0.1, 0.4, 0, 0.4, 0.1)), [1, 3]);
  assert.deepEqual(middleHalf(Float32Array.of(0, 0, 0)), [0, 0]);
});
