// The terms explained for the tokens of a text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { termsOf } from "../../../app/headlight_app/explore/frontend/terms.ts";

test("special tokens are explained, the unknown token with its own term", () => {
  const tokens = ["<s>", "[UNK]", " cat"].map((text) => ({ text, special: text === "<s>" }));
  assert.deepEqual(termsOf(tokens), [
    ["special", "<s>"],
    ["unknown", "[UNK]"],
    ["space", " cat"],
  ]);
  assert.deepEqual(termsOf([{ text: "<unk>", special: true }]), [["unknown", "<unk>"]]);
  assert.deepEqual(termsOf([{ text: "cat", special: false }]), []);
});

test("the sign of a new line is explained once", () => {
  const tokens = ["\n", "user", "\n\n"].map((text) => ({ text, special: false }));
  assert.deepEqual(termsOf(tokens), [["line", ""]]);
});

test("words of an unfamiliar language are in pieces, but not for a model that reads letters", () => {
  const named = (/** @type {string[]} */ texts) =>
    termsOf(texts.map((text) => ({ text, special: false }))).map(([name]) => name);
  assert.deepEqual(named(["D", "er", " H", "und", " j", "ag", "t", " die", " Kat", "ze"]), ["pieces", "space"]);
  assert.deepEqual(named(["小₁", "小₂", "小₃", "猫₁"]), ["pieces"]);
  assert.deepEqual(named(["The", " dog", " chas", "ed", " a", " cat"]), ["space"]);
  assert.deepEqual(named([..."third"]), []);
  assert.deepEqual(named(["5", "3", "17"]), []);
});
