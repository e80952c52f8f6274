// Masks as the address names them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { customMask, defaultMask, hasWindow, parseMask } from "../../../app/ui/frontend/mask_spec.js";

const DEFAULTS = { width: 4, matrix: "100/110/111" };

test("a mask is a kind, and perhaps an argument", () => {
  assert.deepEqual(parseMask("causal"), { kind: "causal", argument: "" });
  assert.deepEqual(parseMask("causal+window:12"), { kind: "causal+window", argument: "12" });
  assert.deepEqual(parseMask("custom:10/11"), { kind: "custom", argument: "10/11" });
  assert.deepEqual(parseMask(""), { kind: "", argument: "" });
});

test("kinds that need an argument begin with one", () => {
  assert.equal(defaultMask("window", DEFAULTS), "window:4");
  assert.equal(defaultMask("causal+window", DEFAULTS), "causal+window:4");
  assert.equal(defaultMask("custom", DEFAULTS), "custom:100/110/111");
  assert.equal(defaultMask("none", DEFAULTS), "none");
  assert.equal(defaultMask("", DEFAULTS), "");
});

test("only a window has a width", () => {
  assert.deepEqual(["window", "causal+window", "causal", "custom", ""].map(hasWindow), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("a matrix may be typed on lines or with strokes", () => {
  assert.equal(customMask(" 10\n11 \n"), "custom:10/11");
  assert.equal(customMask("100/110 / 111"), "custom:100/110/111");
});
