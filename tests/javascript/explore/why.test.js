// Why an answer leads: the parts by what they add to the difference of two logits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reasons } from "../../../app/headlight_app/explore/frontend/prediction/why.js";

const part = (/** @type {string} */ kind, /** @type {number} */ layer, head = -1) => ({ kind, layer, head });
const PARTS = [part("embedding", -1), part("self", 0, 0), part("feed_forward", 0), part("self", 1, 2), part("bias", 1)];

test("heads and networks are listed by how much they favour one answer over the other", () => {
  assert.deepEqual(
    reasons(PARTS, [8, 0, 2.5, -4, 0]).map(({ part: { kind, layer }, value }) => [kind, layer, value]),
    [
      ["self", 1, -4],
      ["feed_forward", 0, 2.5],
      ["self", 0, 0],
    ],
  );
});
