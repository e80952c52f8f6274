// The average surprisal of a text's tokens.

import assert from "node:assert/strict";
import { test } from "node:test";
import { describeMean } from "../../../app/headlight_app/explore/frontend/layers/surprisal.js";

const TOKENS = [false, true, false, true].map((masked) => ({ masked }));
const BITS = Float32Array.from([0, 2, Number.NaN, 4]);

test("for a next-token model each token with a known truth counts", () => {
  assert.equal(describeMean(BITS, TOKENS, false), "On average each token got a probability of 25.0 % (2 bits).");
  assert.equal(describeMean(BITS.subarray(2, 3), TOKENS, false), "");
});

test("for a model that fills masks only masked tokens count", () => {
  const words = describeMean(BITS, TOKENS, true);
  assert.equal(
    words,
    "On average each masked token got a probability of 12.5 % (3 bits). Unmasked tokens do not count.",
  );
});

test("nothing is averaged if no token is masked", () => {
  const visible = TOKENS.map(() => ({ masked: false }));
  assert.match(describeMean(BITS, visible, true), /^Mask a token/);
});
