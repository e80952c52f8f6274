// The chosen heads and tokens, and the switched-off heads.

import assert from "node:assert/strict";
import { test } from "node:test";
import { headsOff, isOff } from "../../../app/headlight_app/ui/frontend/state/head_ablation.ts";
import { tokenLines } from "../../../app/headlight_app/ui/frontend/state/head_matrix.ts";
import {
  clampHead,
  parseHead,
  selectedHeads,
  selectHead,
  selectLayer,
  toggleHeads,
} from "../../../app/headlight_app/ui/frontend/state/head_selection.ts";
import {
  activeQueries,
  lockQuery,
  queryPosition,
  setHover,
  urlPosition,
} from "../../../app/headlight_app/ui/frontend/state/token_selection.ts";
import { createPage, GROUP, token } from "./page.js";

test("a head is chosen alone, or added to the chosen ones", () => {
  const { page, state } = createPage({ layer: 1, head: 2 });
  assert.deepEqual(selectedHeads(page), [[1, 2]]);
  selectHead(page, 0, 1, true);
  assert.deepEqual(selectedHeads(page), [
    [1, 2],
    [0, 1],
  ]);
  selectHead(page, 0, 1, true);
  assert.deepEqual([state.choice.heads, state.choice.layer, state.choice.head], [["1.2"], 1, 2]);
  selectHead(page, 0, 0);
  assert.deepEqual(selectedHeads(page), [[0, 0]]);
});

test("a layer is selected, and cleared if it is the whole selection", () => {
  const { page, state } = createPage();
  selectLayer(page, 1);
  assert.deepEqual(state.choice.heads, ["1.0", "1.1", "1.2"]);
  selectLayer(page, 1);
  assert.deepEqual(state.choice.heads, []);
});

test("heads that the model lacks are replaced without counting as a change", () => {
  const { page, state, changes } = createPage({ layer: 9, head: 9, heads: ["7.7", "1.0", "nonsense"] });
  clampHead(page, GROUP);
  assert.deepEqual([state.choice.layer, state.choice.head, state.choice.heads], [1, 0, ["1.0"]]);
  assert.deepEqual(changes, []);
  assert.deepEqual(parseHead("1.2"), [1, 2]);
});

test("one edit switches off a head, or all heads of a layer", () => {
  const { page, state } = createPage({ edits: ["embedding=scale:0"] });
  toggleHeads(page, [[0, 1]]);
  assert.deepEqual(state.choice.edits, ["embedding=scale:0", "decoder.0.self.weights[1]=set:0"]);
  assert.deepEqual(headsOff(state.choice.edits, GROUP, 0), [1]);
  toggleHeads(page, [
    [0, 0],
    [0, 1],
    [0, 2],
  ]);
  assert.deepEqual(state.choice.edits, ["embedding=scale:0", "decoder.0.self.weights=set:0"]);
  assert.ok(isOff(state.choice.edits, GROUP, 0, 2));
  toggleHeads(page, [[0, 2]]);
  assert.deepEqual(headsOff(state.choice.edits, GROUP, 0), [0, 1]);
});

test("predictions are for the chosen token, the first masked one, or the last", () => {
  const masked = [token("The"), { ...token("[MASK]"), masked: true }, token(".")];
  assert.equal(queryPosition(createPage().page), 2);
  assert.equal(queryPosition(createPage({ query: 0 }).page), 0);
  assert.equal(queryPosition(createPage({ query: 17 }).page), 2);
  assert.equal(queryPosition(createPage({}, { tokens: masked, maskable: true }).page), 1);
});

test("the token under the pointer takes precedence over locked ones", () => {
  const { page } = createPage({ pinned: [1, 9] });
  assert.deepEqual(activeQueries(page), [1]);
  setHover(page, { query: 0, key: null });
  assert.deepEqual(activeQueries(page), [0]);
  setHover(page, null);
  assert.deepEqual(activeQueries(page), [1]);
});

test("a column without a token is shown, but the arrow keys skip it", () => {
  const axis = { labels: ["a", "b", "nowhere"], tokens: [[0], [1, 2], []] };
  assert.deepEqual(tokenLines(axis), [[0], [1, 2]]);
});

test("a token is locked and becomes the query; a second click unlocks it", () => {
  const { page, state } = createPage();
  lockQuery(page, 1);
  assert.deepEqual([state.choice.pinned, state.choice.query], [[1], 1]);
  lockQuery(page, 0, true);
  assert.deepEqual([state.choice.pinned, state.choice.query], [[0, 1], 0]);
  lockQuery(page, 0, true);
  assert.deepEqual(state.choice.pinned, [1]);
  lockQuery(page, 1);
  assert.deepEqual([state.choice.pinned, state.choice.query], [[], -1]);
});

test("the last token is -1 in the address, but not of an image's patches", () => {
  assert.equal(urlPosition(createPage().page, 2), -1);
  assert.equal(urlPosition(createPage().page, 1), 1);
  const patches = {
    side: /** @type {const} */ ("text"),
    rows: 1,
    columns: 2,
    first_token: 1,
    region: /** @type {[number, number, number, number]} */ ([0, 0, 1, 1]),
  };
  assert.equal(urlPosition(createPage({}, { patches }).page, 2), 2);
  const source = { ...patches, side: /** @type {const} */ ("source") }; // its text is a caption
  assert.equal(urlPosition(createPage({}, { patches: source }).page, 2), -1);
});
