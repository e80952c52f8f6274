// The mask of the page, to paint over.

import assert from "node:assert/strict";
import { test } from "node:test";
import { shownMask } from "../../../app/headlight_app/explore/frontend/mask/shown_mask.ts";
import { AS_TRAINED } from "../../../app/headlight_app/ui/frontend/contract.ts";
import { createPage, GROUP } from "./page.js";

/** @param {Partial<typeof GROUP>} group @param {string} masks */
function shown(group, masks) {
  const { page, state } = createPage();
  const bytes = Uint8Array.from([9, 0, 0, 9, 9, 0, 9, 9, 9]);
  const question = { ...state.answer.question, variant: { ...AS_TRAINED, masks } };
  state.receive({ ...state.answer, question, bytes, attention_groups: [{ ...GROUP, ...group }] });
  return shownMask(page);
}

test("cells that are forbidden for all heads are closed", () => {
  const mask = shown({}, "causal+painted:0-1");
  assert.deepEqual(mask?.tokens, ["The", " dog", " sat"]);
  assert.deepEqual([...(mask?.allowed ?? [])], [9, 0, 0, 9, 9, 0, 9, 9, 9]);
  assert.equal(mask?.painted, "0-1");
  assert.equal(shown({}, "")?.painted, "");
});

test("a text whose heads are pooled has no cells to paint", () => {
  assert.deepEqual(shown({ pooled_shape: [2, 2] }, "")?.tokens, []);
  assert.equal(shown({ kind: "cross" }, ""), null);
});
