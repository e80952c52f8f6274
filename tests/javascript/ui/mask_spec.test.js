// Masks as written in the address.

import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultMask, paintedMask, parseMask } from "../../../app/headlight_app/ui/frontend/mask_spec.ts";

/** @import { MaskArguments } from "../../../app/headlight_app/ui/frontend/mask_spec.ts" */

/** @type {MaskArguments} */
const ARGUMENTS = {
  window: { title: "Window width", default: "4", control: "number", limits: [1, 64] },
  "causal+window": { title: "Window width", default: "4", control: "number", limits: [1, 64] },
  painted: { title: "Cells", default: "3-1", control: "cells", limits: [1, 64] },
};

test("a mask is a kind and an optional argument", () => {
  assert.deepEqual(parseMask("causal"), { kind: "causal", argument: "", base: "" });
  assert.deepEqual(parseMask("causal+window:12"), { kind: "causal+window", argument: "12", base: "" });
  assert.deepEqual(parseMask("custom:10/11"), { kind: "custom", argument: "10/11", base: "" });
  assert.deepEqual(parseMask(""), { kind: "", argument: "", base: "" });
});

test("kinds that need an argument begin with one", () => {
  assert.equal(defaultMask("window", ARGUMENTS, "causal"), "window:4");
  assert.equal(defaultMask("causal+window", ARGUMENTS, "causal"), "causal+window:4");
  assert.equal(defaultMask("none", ARGUMENTS, "causal"), "none");
  assert.equal(defaultMask("", ARGUMENTS, "causal"), "");
});

test("a painted mask begins with the current mask", () => {
  assert.equal(defaultMask("painted", ARGUMENTS, "causal+window:4"), "causal+window:4+painted:");
  assert.equal(defaultMask("painted", ARGUMENTS, "none"), "painted:");
  const spec = paintedMask("causal+window:4", "3-1.4-1");
  assert.deepEqual(parseMask(spec), { kind: "painted", argument: "3-1.4-1", base: "causal+window:4" });
  assert.deepEqual(parseMask(paintedMask("none", "3-1")), { kind: "painted", argument: "3-1", base: "" });
});
