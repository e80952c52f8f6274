// What the sidebar is told of the mask on the page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { shownMask } from "../../../app/explore/frontend/shown_mask.js";
import { createPage, GRID } from "./page.js";

/** @param {Partial<typeof GRID>} grid @param {string} masks */
function shown(grid, masks) {
  const { page, state } = createPage();
  const bytes = Uint8Array.from([9, 0, 0, 9, 9, 0, 9, 9, 9]);
  const question = { ...state.answer.question, masks };
  state.receive({ ...state.answer, question, bytes, attention_groups: [{ ...GRID, ...grid }] });
  return shownMask(page);
}

test("the cells that no head may look at are closed", () => {
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
