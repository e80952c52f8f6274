// Masks as the address names them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultMask, matrixMask, parseMask } from "../../../app/ui/frontend/mask_spec.js";

/** @import { MaskArguments } from "../../../app/ui/frontend/mask_spec.js" */

/** @type {MaskArguments} */
const ARGUMENTS = {
  window: { title: "Window width", default: "4", control: "number", limits: [1, 64] },
  "causal+window": { title: "Window width", default: "4", control: "number", limits: [1, 64] },
  custom: { title: "Matrix", default: "100/110/111", control: "matrix", limits: [1, 64] },
};

test("a mask is a kind, and perhaps an argument", () => {
  assert.deepEqual(parseMask("causal"), { kind: "causal", argument: "" });
  assert.deepEqual(parseMask("causal+window:12"), { kind: "causal+window", argument: "12" });
  assert.deepEqual(parseMask("custom:10/11"), { kind: "custom", argument: "10/11" });
  assert.deepEqual(parseMask(""), { kind: "", argument: "" });
});

test("kinds that need an argument begin with one", () => {
  assert.equal(defaultMask("window", ARGUMENTS), "window:4");
  assert.equal(defaultMask("causal+window", ARGUMENTS), "causal+window:4");
  assert.equal(defaultMask("custom", ARGUMENTS), "custom:100/110/111");
  assert.equal(defaultMask("none", ARGUMENTS), "none");
  assert.equal(defaultMask("", ARGUMENTS), "");
});

test("a matrix may be typed on lines or with strokes", () => {
  assert.equal(matrixMask("custom", " 10\n11 \n"), "custom:10/11");
  assert.equal(matrixMask("custom", "100/110 / 111"), "custom:100/110/111");
});
