// Why an answer leads: the parts, ranked by their contribution to the difference of two logits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { likelihoodText, reasons } from "../../../app/headlight_app/explore/frontend/prediction/why.js";

const part = (/** @type {string} */ kind, /** @type {number} */ layer, head = -1) => ({ kind, layer, head });
const PARTS = [part("embedding", -1), part("self", 0, 0), part("feed_forward", 0), part("self", 1, 2), part("bias", 1)];

test("of two almost equally likely answers, neither is called 1.0 times as likely", () => {
  assert.deepEqual([1.01, 3.19, 42.3].map(likelihoodText), [
    "It is hardly likelier",
    "It is 3.2 times as likely",
    "It is 42 times as likely",
  ]);
});

test("heads and networks are ranked by how much they favour one answer over the other", () => {
  assert.deepEqual(
    reasons(PARTS, [8, 0, 2.5, -4, 0]).map(({ part: { kind, layer }, value }) => [kind, layer, value]),
    [
      ["self", 1, -4],
      ["feed_forward", 0, 2.5],
      ["self", 0, 0],
    ],
  );
});
