// Which terms the tokens of a text need.

import assert from "node:assert/strict";
import { test } from "node:test";
import { termsOf } from "../../../app/headlight_app/explore/frontend/terms.js";

test("each token that the person did not type is explained, the unknown one by its own words", () => {
  const tokens = ["<s>", "[UNK]", " cat"].map((text) => ({ text, special: text === "<s>" }));
  assert.deepEqual(termsOf(tokens), [
    ["special", "<s>"],
    ["unknown", "[UNK]"],
    ["space", " cat"],
  ]);
  assert.deepEqual(termsOf([{ text: "<unk>", special: true }]), [["unknown", "<unk>"]]);
  assert.deepEqual(termsOf([{ text: "cat", special: false }]), []);
});
