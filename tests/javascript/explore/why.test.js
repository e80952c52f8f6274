// Why an answer leads: the parts, ranked by their contribution to the difference of two logits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { favourText, likelihoodText, reasons } from "../../../app/headlight_app/explore/frontend/prediction/why.js";

const part = (/** @type {string} */ kind, /** @type {number} */ layer, head = -1) => ({ kind, layer, head });
const PARTS = [part("embedding", -1), part("self", 0, 0), part("feed_forward", 0), part("self", 1, 2), part("bias", 1)];

test("of two almost equally likely answers, neither is called 1.0 times as likely", () => {
  assert.deepEqual([1.01, 3.19, 42.3, 1e9, Infinity, Number.NaN].map(likelihoodText), [
    "It is hardly likelier",
    "It is 3.2 times as likely",
    "It is 42 times as likely",
    "It is more than a million times as likely",
    "It is more than a million times as likely",
    "The probabilities are not numbers",
  ]);
});

const listed = (/** @type {any[]} */ parts, /** @type {number[]} */ differences) =>
  reasons(parts, differences).map(({ part: { kind, layer }, value }) => [kind, layer, value]);

test("all parts are ranked by how much they favour one answer over the other", () => {
  assert.deepEqual(listed(PARTS, [8, 0, 2.5, -4, 0]), [
    ["embedding", -1, 8],
    ["self", 1, -4],
    ["feed_forward", 0, 2.5],
  ]);
});

test("the part of an edit is listed, however small", () => {
  const parts = [...PARTS, part("edit", -1)];
  assert.deepEqual(listed(parts, [8, 7, 6, 5, 4, 1]).at(-1), ["edit", -1, 1]);
  assert.equal(listed(parts, [8, 7, 6, 5, 4, 0]).length, 4);
  assert.equal(listed(parts, [1, 1, 1, 1, 1, -90])[0][0], "edit");
});

test("a part favours an answer even if the four largest parts oppose it", () => {
  assert.equal(favourText(PARTS, [-9, -8, -7, -6, 0.5]), "layer 1, biases favours it most.");
  assert.equal(favourText(PARTS, [1, 3, 2, 0, 0]), "layer 0, head 0 favours it most.");
  assert.equal(favourText(PARTS, [-1, -1, -1, -1, -1]), "no single part favours it.");
});
