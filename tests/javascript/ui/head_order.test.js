// The order of heads stays until another is requested.

import assert from "node:assert/strict";
import { test } from "node:test";
import { forgetOrder, headOrder } from "../../../app/headlight_app/ui/frontend/heads/head_order.ts";
import { clampPair, pairTitle, queryKeyPair } from "../../../app/headlight_app/ui/frontend/heads/query_key_order.ts";
import { createPage, GROUP } from "../explore/page.js";

const BEFORE = { ...GROUP, metrics: { previous: [0.1, 0.9, 0.5, 0.3, 0.2, null] } };
const AFTER = { ...GROUP, metrics: { previous: [0.1, null, 0.5, 0.3, 0.8, null] } };
const BEST_FIRST = ["0,1", "0,2", "1,0", "1,1", "0,0", "1,2"];

/** @param {ReturnType<typeof headOrder>} order */
const names = ({ heads }) => heads.map(String);

/** A page whose server has no metrics yet. @param {string} sort */
function sortedPage(sort) {
  const { page, state } = createPage({ sort });
  return { page: Object.assign(page, { server: { get: () => null } }), state };
}

test("numbers changed by an edit keep the order until a new one is requested", () => {
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

test("without a sort order, heads are in the order of layers", () => {
  const { page } = sortedPage("layer");
  assert.equal(names(headOrder(page, GROUP)).length, 6);
  assert.equal(headOrder(page, BEFORE).values, null);
});

test("another text or metric gives another order", () => {
  const { page, state } = sortedPage("previous");
  headOrder(page, BEFORE);
  state.receive({ ...state.answer, question: { ...state.answer.question, text: "The dog" } });
  assert.equal(names(headOrder(page, AFTER))[0], "1,1");
  state.update({ sort: "layer" });
  assert.equal(names(headOrder(page, BEFORE))[0], "0,0");
  state.update({ sort: "previous" });
  assert.deepEqual(names(headOrder(page, BEFORE)), BEST_FIRST);
});

test("heads keep their places while numbers are pending", () => {
  const { page } = sortedPage("previous");
  headOrder(page, BEFORE);
  const waiting = headOrder(page, GROUP);
  assert.deepEqual(names(waiting), BEST_FIRST);
  assert.deepEqual(waiting.values, []);
});

const PAIR_ORDER = { ...GROUP, metrics: {} };

/** A page whose server has the weights of some pairs. @param {Record<string, number[]>} known */
function pairPage(known) {
  const bytes = new Uint8Array(GROUP.layers * GROUP.heads * 9).fill(1);
  const { page, state } = createPage({ sort: "query_key", query: 2, key: 1 }, { bytes });
  const get = (/** @type {string} */ _, /** @type {{ query: number, key: number }} */ { query, key }) => {
    const numbers = known[`${query} ${key}`];
    return numbers ? { meta: {}, numbers: Float32Array.from(numbers) } : null;
  };
  return { page: Object.assign(page, { server: { get } }), state };
}

test("heads are sorted by the weight of one pair, and stay when the pair or text changes", () => {
  const { page, state } = pairPage({ "2 1": [0.1, 0.5, 0.25, 0, 0.75, 0.3], "2 0": [0.9, 0.5, 0.4, 0.3, 0.2, 0.1] });
  const order = headOrder(page, PAIR_ORDER);
  assert.deepEqual(names(order), ["1,1", "0,1", "1,2", "0,2", "0,0", "1,0"]);
  assert.deepEqual(order.values?.[4], 0.75);
  assert.equal(order.outdated, false);
  state.update({ key: 0 });
  const other = headOrder(page, PAIR_ORDER);
  assert.deepEqual(names(other), names(order));
  assert.equal(other.outdated, true);
  state.receive({ ...state.answer, question: { ...state.answer.question, text: "The dog" } });
  assert.deepEqual(names(headOrder(page, PAIR_ORDER)), names(order));
  forgetOrder(page);
  assert.deepEqual(names(headOrder(page, PAIR_ORDER)).slice(0, 2), ["0,0", "0,1"]);
});

test("byte codes are shown until exact numbers arrive, and do not reorder heads", () => {
  /** @type {Record<string, number[]>} */
  const known = {};
  const { page, state } = pairPage(known);
  state.answer.bytes[5 * 9 + 2 * 3 + 1] = 255;
  assert.equal(headOrder(page, PAIR_ORDER).values, null);
  known["2 1"] = [0.1, 0.5, 0.25, 0, 0.75, 0.3];
  assert.equal(names(headOrder(page, PAIR_ORDER))[0], "1,1");
  forgetOrder(page);
  state.update({ key: 0 });
  const waiting = headOrder(page, PAIR_ORDER);
  assert.equal(names(waiting)[0], "1,1");
  assert.equal(waiting.values?.[4], 0);
});

test("the query is the locked one, and the default key has the current head's largest weight", () => {
  const { page, state } = pairPage({});
  state.update({ key: -1, pinned: [1], layer: 1, head: 2 });
  state.answer.bytes[5 * 9 + 1 * 3 + 1] = 200;
  assert.deepEqual(queryKeyPair(page, PAIR_ORDER), { query: 1, key: 1 });
  assert.equal(pairTitle(page, PAIR_ORDER, "from “{query}” to “{key}”"), "from “dog” to “dog”");
  state.update({ key: 9 });
  clampPair(page, PAIR_ORDER);
  assert.equal(state.choice.key, 1);
});
