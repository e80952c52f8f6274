// The list of edits: what each action makes of it, undo and redo.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addEdits,
  hasEdits,
  redoEdit,
  removeEdit,
  replaceEdit,
  toggleEdit,
  toggleEdits,
  undoEdit,
} from "../../../app/headlight_app/explore/frontend/edits/edit_actions.js";
import { EditHistory } from "../../../app/headlight_app/explore/frontend/edits/edit_history.js";
import { createPage } from "./page.js";

const [A, B, C] = ["embedding=scale:0", "logits=set:1", "decoder.0.self.v[1]=add:2"];

/** @param {ReturnType<typeof createPage>["state"]} state */
const lists = ({ choice: { edits, disabled_edits } }) => ({ edits, disabled_edits });

test("an edit is added once, at the end", () => {
  const { page, state } = createPage({ edits: [A, B] });
  addEdits(page, [A, C]);
  assert.deepEqual(lists(state), { edits: [B, A, C], disabled_edits: [] });
});

test("an edit can be put aside, and taken up again", () => {
  const { page, state } = createPage({ edits: [A, B] });
  toggleEdit(page, A);
  assert.deepEqual(lists(state), { edits: [B], disabled_edits: [A] });
  toggleEdit(page, A);
  assert.deepEqual(lists(state), { edits: [B, A], disabled_edits: [] });
  removeEdit(page, B);
  assert.deepEqual(lists(state), { edits: [A], disabled_edits: [] });
});

test("an edit takes the place of those that are picked", () => {
  const { page, state, changes } = createPage({ edits: [A, B, C] });
  replaceEdit(page, (edit) => edit === B, "logits=set:3");
  assert.deepEqual(state.choice.edits, [A, "logits=set:3", C]);
  replaceEdit(page, (edit) => edit === B, null);
  assert.equal(changes.length, 1);
});

test("several edits are made in place of others of the same values, or taken back", () => {
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

test("edits that came with the address are taken back one by one", () => {
  const { page, state } = createPage({ edits: [A, B] });
  undoEdit(page);
  assert.deepEqual(state.choice.edits, [A]);
  redoEdit(page);
  assert.deepEqual(state.choice.edits, [A, B]);
});

test("one stroke of a slider is one change", () => {
  const history = new EditHistory();
  const edits = (/** @type {string[]} */ list) => ({ edits: list, disabled_edits: [] });
  history.beginStroke();
  for (const list of [[], [A], [B]]) history.record(edits(list));
  history.endStroke();
  /** @type {string[][]} */
  const restored = [];
  history.undo(edits([C]), ({ edits: list }) => restored.push(list));
  assert.deepEqual(restored, [[]]);
});
