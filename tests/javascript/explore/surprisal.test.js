// The average surprisal of a text's tokens.

import assert from "node:assert/strict";
import { test } from "node:test";
import { describeMean } from "../../../app/headlight_app/explore/frontend/layers/surprisal.js";

const TOKENS = [false, true, false, true].map((masked) => ({ masked }));
const BITS = Float32Array.from([0, 2, Number.NaN, 4]);

test("each token whose truth is known counts for a model that predicts the next one", () => {
  assert.equal(describeMean(BITS, TOKENS, false), "On average each token got a probability of 25.0 % (2 bits).");
  assert.equal(describeMean(BITS.subarray(2, 3), TOKENS, false), "");
});

test("only masked tokens count for a model that fills masks, which reads all others", () => {
  const words = describeMean(BITS, TOKENS, true);
  assert.equal(
    words,
    "On average each masked token got a probability of 12.5 % (3 bits). Tokens that are not masked do not count.",
  );
});

test("nothing is averaged where a model that fills masks reads every token", () => {
  const visible = TOKENS.map(() => ({ masked: false }));
  assert.match(describeMean(BITS, visible, true), /^Mask a token/);
});
