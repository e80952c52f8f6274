// The generated tokens, step by step, and the abandoned lines.

import assert from "node:assert/strict";
import { test } from "node:test";
import { History, shownTokens } from "../../../app/headlight_app/generate/frontend/history.ts";

/** @import { AnyRecord, PageToken } from "../../../app/headlight_app/generate/frontend/types.ts" */

/** @param {string} word @param {number} position */
const generated = (word, position) => ({ position, id: word.length, text: word });
/** @param {string} text @param {boolean} space_before @returns {PageToken} */
const token = (text, space_before = false) => ({ text, special: false, space_before });
/** @type {AnyRecord} */
const RECORD = { done: true, tokens: { text: [], source: null } };

/** @param {History} history */
const words = (history) => history.generated.map(({ text }) => text);

/** A line of three tokens. */
function line() {
  const history = new History();
  ["a", "bb", "ccc"].forEach((word, step) => {
    history.take(step, generated(word, 5 + step));
  });
  return history;
}

test("a line that is only extended creates no branches", () => {
  const history = line();
  assert.deepEqual(words(history), ["a", "bb", "ccc"]);
  assert.deepEqual(history.branches, []);
});

test("another token at an earlier step keeps the old line as a branch, which can be continued", () => {
  const history = line();
  history.take(1, generated("dddd", 6));
  assert.deepEqual(words(history), ["a", "dddd"]);
  const [branch] = history.branches;
  assert.equal(branch.from, 1);
  history.switchTo(branch);
  assert.deepEqual(words(history), ["a", "bb", "ccc"]);
  assert.deepEqual(
    history.branches.map(({ generated: left }) => left.map(({ text }) => text)),
    [["a", "dddd"]],
  );
});

test("a prefix of the current line is not a branch", () => {
  const history = line();
  history.truncate(1);
  assert.equal(history.branches.length, 1);
  history.take(1, generated("bb", 6));
  history.take(2, generated("ccc", 7));
  assert.deepEqual(history.branches, []);
});

test("answers are stored by the line that they continue", () => {
  const history = line();
  history.store(history.generated.slice(0, 2), RECORD);
  assert.equal(history.recordAt(2), RECORD);
  assert.equal(history.newest, null);
  history.truncate(2);
  assert.equal(history.newest, RECORD);
});

test("another question discards answers until they are restored", () => {
  const history = line();
  history.store([], RECORD);
  history.restart([]);
  history.restart([]);
  assert.equal(history.newest, null);
  history.restore();
  assert.equal(history.newest, RECORD);
});

test("the text is the prompt with the generated tokens at its end or in its masks", () => {
  const tokens = shownTokens(
    [token("The"), token("[MASK]", true), token(".")],
    [
      { position: 1, id: 4, text: "cat" },
      { position: 3, id: 2, text: " It" },
    ],
  );
  assert.deepEqual(
    tokens.map(({ text, step }) => [text, step]),
    [
      ["The", null],
      ["cat", 0],
      [".", null],
      [" It", 1],
    ],
  );
  assert.deepEqual(
    tokens.map(({ space_before }) => space_before),
    [false, true, false, false],
  );
});
