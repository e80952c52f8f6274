// The two questions of the Compare page, and the choices behind them.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  patchDifference,
  questionA,
  questionB,
  swapDifference,
} from "../../../app/headlight_app/compare/frontend/questions.ts";
import { CompareState } from "../../../app/headlight_app/compare/frontend/state.ts";
import { GROUP } from "../explore/page.js";

/** @import { Choice, Difference, Settings } from "../../../app/headlight_app/compare/frontend/types.ts" */

/** @type {Settings} */
const SETTINGS = {
  model: "tiny",
  image: "",
  text_pair: "",
  chat: "",
  variant: { masks: "", positional_encoding: "", attention_function: "", scale: "", pooling: "" },
  device: "cpu",
  measure: "",
};
/** @type {Choice} */
const CHOICE = {
  masked_positions: [2],
  edits: ["embedding=scale:0"],
  patch_from: "",
  attention: "",
  layer: 1,
  head: 2,
  query: -1,
  text: "We eat",
  source: "",
};
const A = questionA(CHOICE, SETTINGS);
/** @type {Difference} */
const SAME = { variant: {} };

test("B's question is A's with the difference applied", () => {
  assert.deepEqual(questionB(A, SAME), A);
  assert.deepEqual(
    questionB(A, {
      variant: { positional_encoding: "none" },
      layer: 4,
      head: 1,
      head_chosen: "1",
      alignment: "position",
    }),
    { ...A, variant: { ...A.variant, positional_encoding: "none" } },
  );
});

test("masked positions belong to a text, edits to a model", () => {
  assert.deepEqual(questionB(A, { ...SAME, text: "We drink" }), { ...A, text: "We drink", masked_positions: [] });
  assert.deepEqual(questionB(A, { ...SAME, model: "other" }), {
    ...A,
    model: "other",
    masked_positions: [],
    edits: [],
  });
  assert.deepEqual(questionB(A, { ...SAME, model: "other", edits: ["logits=set:0"], masked_positions: [0] }), {
    ...A,
    model: "other",
    edits: ["logits=set:0"],
    masked_positions: [0],
  });
});

test("undefined removes a difference, and another model drops the edits of the old one", () => {
  assert.deepEqual(patchDifference({ ...SAME, text: "b", alignment: "position" }, { text: undefined }), {
    ...SAME,
    alignment: "position",
  });
  const rewired = { variant: { masks: "none", scale: "off" } };
  assert.deepEqual(patchDifference(rewired, { variant: { masks: undefined, pooling: "mean" } }), {
    variant: { scale: "off", pooling: "mean" },
  });
  assert.deepEqual(
    patchDifference(
      { edits: ["x"], masked_positions: [1], variant: { attention_function: "hardmax" } },
      { model: "other", variant: { masks: "none" } },
    ),
    { variant: { attention_function: "hardmax", masks: "none" }, model: "other" },
  );
});

test("swapping twice restores both sides", () => {
  const state = new CompareState(
    CHOICE,
    { text: "We drink", variant: { positional_encoding: "alibi" }, alignment: "position" },
    SETTINGS,
  );
  const swapped = state.swapped();
  assert.deepEqual(swapped.questions, [...state.questions].reverse());
  assert.equal(swapped.alignment, "position");
  assert.deepEqual(swapped.swapped().questions, state.questions);
  assert.deepEqual(swapDifference(A, A, {}), SAME);
});

test("states are immutable; a change creates a new state", () => {
  const state = new CompareState(CHOICE, SAME, SETTINGS);
  const changed = state.change({ text: "They eat" });
  assert.equal(state.choice.text, "We eat");
  assert.equal(changed.choice.text, "They eat");
  assert.equal(changed.asksSame(state), false);
  assert.equal(state.change({ layer: 0 }).asksSame(state), true);
});

test("a head is chosen for both sides while they are linked", () => {
  const linked = new CompareState(CHOICE, SAME, SETTINGS).chooseHead(1, { layer: 0, head: 1 });
  assert.deepEqual(
    [0, 1].map((side) => linked.headOf(side, GROUP)),
    [
      { layer: 0, head: 1 },
      { layer: 0, head: 1 },
    ],
  );
  const apart = linked.link(false).chooseHead(1, { layer: 1, head: 0 });
  assert.equal(apart.linked, false);
  assert.deepEqual(
    [0, 1].map((side) => apart.headOf(side, GROUP)),
    [
      { layer: 0, head: 1 },
      { layer: 1, head: 0 },
    ],
  );
  assert.equal(apart.link(true).linked, true);
});

test("a head out of range becomes the model's last one", () => {
  const state = new CompareState({ ...CHOICE, layer: 11, head: 11 }, SAME, SETTINGS);
  assert.deepEqual(state.headOf(0, GROUP), { layer: 1, head: 2 });
});

test("without a chosen head, the reported state has none", () => {
  const choice = { ...CHOICE, layer: -1, head: -1 };
  const state = new CompareState(choice, { ...SAME, head_chosen: "1" }, SETTINGS).change({ layer: 1, head: 1 });
  assert.equal(state.followsLargest, true);
  assert.deepEqual(state.told, { ...choice, ...SETTINGS, side_b: SAME });
  const chosen = state.chooseHead(null, { layer: 1, head: 0 });
  assert.equal(chosen.followsLargest, false);
  assert.deepEqual(chosen.told, { ...CHOICE, layer: 1, head: 0, ...SETTINGS, side_b: { ...SAME, head_chosen: "1" } });
  assert.equal(chosen.change({}, SAME).followLargest().followsLargest, true);
});
