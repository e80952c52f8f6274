// The head that an example refers to.

import assert from "node:assert/strict";
import { test } from "node:test";
import { spokenOf } from "../../../app/headlight_app/explore/frontend/examples.ts";
import { createPage, GROUP } from "./page.js";

const EXAMPLE = { text: "The dog sat", source: "", hint: "", sort: "layer", query: "sat", key: "dog" };

/** @param {Partial<typeof GROUP>} [group] */
function pageOf(group = {}) {
  const bytes = new Uint8Array(GROUP.layers * GROUP.heads * 9).fill(1);
  bytes[4 * 9 + 2 * 3 + 1] = 200; // layer 1, head 1: from "sat" to "dog"
  return createPage({}, { bytes, attention_groups: [{ ...GROUP, ...group }] }).page;
}

test("it is the head with the largest weight from the example's query to its key", () => {
  assert.deepEqual(spokenOf(pageOf(), EXAMPLE), { layer: 1, head: 1 });
  assert.equal(spokenOf(pageOf(), { ...EXAMPLE, key: "bird" }), null);
  assert.equal(spokenOf(pageOf(), { ...EXAMPLE, query: "", key: "" }), null);
});

test("with a sort order, it is the first head in that order", () => {
  const page = pageOf({ metrics: { induction: [0.1, null, 0.8, 0.2, 0.3, 0.1] } });
  assert.deepEqual(spokenOf(page, { ...EXAMPLE, sort: "induction" }), { layer: 0, head: 2 });
});
