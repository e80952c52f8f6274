// Heads switched off by their own edit or by their layer's.

import assert from "node:assert/strict";
import { test } from "node:test";
import { headsOff, isOff, switchHeads } from "../../../app/headlight_app/ui/frontend/state/head_ablation.ts";

const GROUP = { stack: "decoder", kind: "self", layers: 2, heads: 3 };
const OTHER = "embedding=scale:0";
const [HEAD, LAYER] = ["decoder.1.self.weights[2]=set:0", "decoder.1.self.weights=set:0"];

test("a head is off by its own edit, or by its layer's", () => {
  assert.deepEqual(headsOff([OTHER, HEAD], GROUP, 1), [2]);
  assert.deepEqual(headsOff([LAYER], GROUP, 1), [0, 1, 2]);
  assert.equal(isOff([HEAD], GROUP, 0, 2), false);
});

test("a head is switched off and on again; other edits keep their places", () => {
  assert.deepEqual(switchHeads([OTHER], GROUP, [[1, 2]], true), [OTHER, HEAD]);
  assert.deepEqual(switchHeads([HEAD, OTHER], GROUP, [[1, 2]], false), [OTHER]);
});

test("all heads of a layer are one edit; switching one on leaves the others off", () => {
  const heads = /** @type {[number, number][]} */ ([0, 1, 2].map((head) => [1, head]));
  assert.deepEqual(switchHeads([OTHER, HEAD], GROUP, heads, true), [OTHER, LAYER]);
  assert.deepEqual(switchHeads([LAYER], GROUP, [[1, 0]], false), ["decoder.1.self.weights[1]=set:0", HEAD]);
  assert.deepEqual(switchHeads([LAYER], { ...GROUP, heads: 1 }, [[1, 0]], false), []);
});

test("an edit of several layers or heads switches off those that the server names", () => {
  const [layers, heads] = ["decoder.*.self.weights[0]=set:0", "decoder.1.self.weights[0:2]=set:0"];
  /** @type {Record<string, [number, number][]>} */
  const ablations = {
    [layers]: [
      [0, 0],
      [1, 0],
    ],
    [heads]: [
      [1, 0],
      [1, 1],
    ],
  };
  const group = { ...GROUP, ablations };
  assert.deepEqual(headsOff([layers], group, 0), [0]);
  assert.deepEqual(headsOff([heads], group, 1), [0, 1]);
  assert.deepEqual(switchHeads([layers, OTHER], group, [[1, 0]], false), [OTHER, "decoder.0.self.weights[0]=set:0"]);
  assert.deepEqual(switchHeads([heads], group, [[1, 0]], false), ["decoder.1.self.weights[1]=set:0"]);
  assert.deepEqual(switchHeads([heads], group, [[1, 2]], true), [heads, LAYER]);
});
