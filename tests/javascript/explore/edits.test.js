// The list of edits: each action, undo and redo.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addEdits,
  clearChanges,
  hasEdits,
  redoEdit,
  removeEdit,
  replaceEdit,
  toggleEdit,
  toggleEdits,
  undoEdit,
} from "../../../app/headlight_app/explore/frontend/edits/edit_actions.ts";
import { countChanges, EditHistory } from "../../../app/headlight_app/explore/frontend/edits/edit_history.ts";
import { AS_TRAINED } from "../../../app/headlight_app/ui/frontend/contract.ts";
import { createPage } from "./page.js";

const [A, B, C] = ["embedding=scale:0", "logits=set:1", "decoder.0.self.v[1]=add:2"];

/** @param {ReturnType<typeof createPage>["state"]} state */
const lists = ({ choice: { edits, disabled_edits } }) => ({ edits, disabled_edits });

test("an edit is added once, at the end", () => {
  const { page, state } = createPage({ edits: [A, B] });
  addEdits(page, [A, C]);
  assert.deepEqual(lists(state), { edits: [B, A, C], disabled_edits: [] });
});

test("an edit can be disabled and enabled again", () => {
  const { page, state } = createPage({ edits: [A, B] });
  toggleEdit(page, A);
  assert.deepEqual(lists(state), { edits: [B], disabled_edits: [A] });
  toggleEdit(page, A);
  assert.deepEqual(lists(state), { edits: [B, A], disabled_edits: [] });
  removeEdit(page, B);
  assert.deepEqual(lists(state), { edits: [A], disabled_edits: [] });
});

test("an edit replaces the edits that match", () => {
  const { page, state, changes } = createPage({ edits: [A, B, C] });
  replaceEdit(page, (edit) => edit === B, "logits=set:3");
  assert.deepEqual(state.choice.edits, [A, "logits=set:3", C]);
  replaceEdit(page, (edit) => edit === B, null);
  assert.equal(changes.length, 1);
});

test("several edits replace others of the same values, or are undone", () => {
  const { page, state } = createPage({ edits: [A, B] });
  toggleEdits(page, ["logits=set:7", C]);
  assert.deepEqual(state.choice.edits, [A, "logits=set:7", C]);
  assert.ok(hasEdits(page, [C]));
  toggleEdits(page, ["logits=set:7", C]);
  assert.deepEqual(state.choice.edits, [A]);
  assert.ok(!hasEdits(page, []));
});

test("each change is undone and redone", () => {
  const { page, state } = createPage();
  addEdits(page, [A]);
  addEdits(page, [B]);
  undoEdit(page);
  assert.deepEqual(state.choice.edits, [A]);
  undoEdit(page);
  assert.deepEqual(state.choice.edits, []);
  redoEdit(page);
  redoEdit(page);
  assert.deepEqual(state.choice.edits, [A, B]);
  redoEdit(page);
  assert.deepEqual(state.choice.edits, [A, B]);
});

test("a change after undo leaves nothing to redo", () => {
  const { page, state } = createPage();
  addEdits(page, [A]);
  undoEdit(page);
  addEdits(page, [B]);
  assert.equal(state.history.canRedo, false);
});

test("edits from the address are undone one by one", () => {
  const { page, state } = createPage({ edits: [A, B] });
  undoEdit(page);
  assert.deepEqual(state.choice.edits, [A]);
  redoEdit(page);
  assert.deepEqual(state.choice.edits, [A, B]);
});

test("an exchanged part counts as a change and is undone like an edit", () => {
  const { page, state } = createPage();
  addEdits(page, [A]);
  const bidirectional = { ...AS_TRAINED, masks: "none" };
  page.change({ variant: bidirectional });
  assert.equal(countChanges(state.choice), 2);
  undoEdit(page);
  assert.deepEqual([state.choice.variant, state.choice.edits], [AS_TRAINED, [A]]);
  redoEdit(page);
  assert.deepEqual(state.choice.variant, bidirectional);
  clearChanges(page);
  assert.equal(countChanges(state.choice), 0);
  undoEdit(page);
  assert.deepEqual([state.choice.variant, state.choice.edits], [bidirectional, [A]]);
});

test("an exchanged part from the address is undone, and quick values of a slider are one change", () => {
  const { page, state } = createPage({ variant: { ...AS_TRAINED, masks: "none" } });
  assert.ok(state.history.canUndo(state.choice));
  undoEdit(page);
  assert.deepEqual(state.choice.variant, AS_TRAINED);
  const history = new EditHistory();
  for (const [width, time] of [
    [1, 0],
    [2, 100],
    [3, 900],
    [4, 5000],
  ])
    history.record({ edits: [], disabled_edits: [], variant: { ...AS_TRAINED, masks: `window:${width}` } }, true, time);
  /** @type {string[]} */
  const masks = [];
  const now = { edits: [], disabled_edits: [], variant: AS_TRAINED };
  for (const _ of [1, 2]) history.undo(now, ({ variant }) => masks.push(variant.masks));
  assert.deepEqual(masks, ["window:4", "window:1"]);
});

test("one stroke of a slider is one change", () => {
  const history = new EditHistory();
  const edits = (/** @type {string[]} */ list) => ({ edits: list, disabled_edits: [], variant: AS_TRAINED });
  history.beginStroke();
  for (const list of [[], [A], [B]]) history.record(edits(list));
  history.endStroke();
  /** @type {string[][]} */
  const restored = [];
  history.undo(edits([C]), ({ edits: list }) => restored.push(list));
  assert.deepEqual(restored, [[]]);
});
