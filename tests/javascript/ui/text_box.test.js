// A text box whose text is replaced by the page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setText } from "../../../app/headlight_app/ui/frontend/text_box.ts";

/** The used parts of a box. @param {string} value @param {number} selectionStart @param {number} selectionEnd */
function createBox(value, selectionStart, selectionEnd) {
  let selections = 0;
  const box = { value, selectionStart, selectionEnd, select: () => selections++ };
  return { box: /** @type {HTMLTextAreaElement} */ (/** @type {unknown} */ (box)), selections: () => selections };
}

test("if the whole text was selected, the whole new text is selected", () => {
  const { box, selections } = createBox("the cat", 0, 7);
  setText(box, "an opening sentence");
  assert.equal(box.value, "an opening sentence");
  assert.equal(selections(), 1);
});

test("otherwise nothing is selected, and an equal text is not touched", () => {
  for (const [text, start, end] of /** @type {[string, number, number][]} */ ([
    ["the cat", 2, 7],
    ["", 0, 0],
    ["same", 0, 4],
  ])) {
    const { box, selections } = createBox(text, start, end);
    setText(box, "same");
    assert.equal(box.value, "same");
    assert.equal(selections(), 0);
  }
});
