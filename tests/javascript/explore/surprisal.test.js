// The average surprisal of a text's tokens.

import assert from "node:assert/strict";
import { test } from "node:test";
import { describeMean } from "../../../app/headlight_app/explore/frontend/layers/surprisal.js";

const TOKENS = [false, true, false, true].map((masked) => ({ masked }));
const BITS = Float32Array.from([0, 2, Number.NaN, 4]);

test("for a next-token model each token with a known truth counts", () => {
  assert.equal(
    describeMean(BITS, TOKENS, false),
    "On average a token had a surprisal of 2 bits; the geometric mean of the probabilities is 25.0 %.",
  );
  assert.equal(describeMean(BITS.subarray(2, 3), TOKENS, false), "");
});

test("for a model that fills masks only masked tokens count", () => {
  const words = describeMean(BITS, TOKENS, true);
  assert.equal(
    words,
    "On average a masked token had a surprisal of 3 bits; the geometric mean of the probabilities is 12.5 %. Unmasked tokens do not count.",
  );
});

test("nothing is averaged if no token is masked", () => {
  const visible = TOKENS.map(() => ({ masked: false }));
  assert.match(describeMean(BITS, visible, true), /^Mask a token/);
});
