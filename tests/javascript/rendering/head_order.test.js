// The order of heads holds until another is asked for.

import assert from "node:assert/strict";
import { test } from "node:test";
import { forgetOrder, headOrder } from "../../../model/rendering/static/heads/head_order.js";
import { createPage, GRID } from "../explore/page.js";

const BEFORE = { ...GRID, metrics: { previous: [0.1, 0.9, 0.5, 0.3, 0.2, null] } };
const AFTER = { ...GRID, metrics: { previous: [0.1, null, 0.5, 0.3, 0.8, null] } };
const BEST_FIRST = ["0,1", "0,2", "1,0", "1,1", "0,0", "1,2"];

/** @param {ReturnType<typeof headOrder>} order */
const names = ({ heads }) => heads.map(String);

/** A page whose server knows no metrics yet. @param {string} sort */
function sortedPage(sort) {
  const { page, state } = createPage({ sort });
  return { page: Object.assign(page, { server: { get: () => null } }), state };
}

test("numbers that an edit changes leave the heads where they are, until somebody asks", () => {
  const { page } = sortedPage("previous");
  assert.deepEqual(names(headOrder(page, BEFORE)), BEST_FIRST);
  const after = headOrder(page, AFTER);
  assert.deepEqual(names(after), BEST_FIRST);
  assert.equal(after.values, AFTER.metrics.previous);
  assert.equal(after.outdated, true);
  assert.equal(headOrder(page, BEFORE).outdated, false);
  forgetOrder(page);
  assert.deepEqual(names(headOrder(page, AFTER)).slice(0, 2), ["1,1", "0,2"]);
});

test("nothing but layers is in order while nobody has asked", () => {
  const { page } = sortedPage("layer");
  assert.equal(names(headOrder(page, GRID)).length, 6);
  assert.equal(headOrder(page, BEFORE).values, null);
});

test("another text or metric is another order", () => {
  const { page, state } = sortedPage("previous");
  headOrder(page, BEFORE);
  state.receive({ ...state.answer, question: { ...state.answer.question, text: "The dog" } });
  assert.equal(names(headOrder(page, AFTER))[0], "1,1");
  state.update({ sort: "layer" });
  assert.equal(names(headOrder(page, BEFORE))[0], "0,0");
  state.update({ sort: "previous" });
  assert.deepEqual(names(headOrder(page, BEFORE)), BEST_FIRST);
});

test("heads wait in their places for numbers that are on their way", () => {
  const { page } = sortedPage("previous");
  headOrder(page, BEFORE);
  const waiting = headOrder(page, GRID);
  assert.deepEqual(names(waiting), BEST_FIRST);
  assert.deepEqual(waiting.values, []);
});
