// Patches of the Compare page: when A can take a value of B's run, and the resulting questions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { patchWords, tokenPatch, whyNoPatch } from "../../../app/headlight_app/compare/frontend/patches.ts";
import { CompareState } from "../../../app/headlight_app/compare/frontend/state.ts";
import { wordText } from "../../../app/headlight_app/ui/frontend/state/edit_words.ts";

const variant = { masks: "", positional_encoding: "", attention_function: "", scale: "", pooling: "" };
const settings = {
  model: "tiny",
  image: "",
  text_pair: "",
  chat: "",
  variant,
  device: /** @type {const} */ ("cpu"),
  measure: /** @type {const} */ (""),
};
const choice = {
  masked_positions: [],
  edits: [],
  patch_from: "",
  attention: "",
  layer: 0,
  head: 0,
  query: -1,
  text: "a boy",
  source: "",
};
const parts = { masks: { title: "Mask", names: {} }, scale: { title: "Scale 1/√d", names: {} } };
const PATCH = "decoder.0.self.weighted_values[1]=from:B";

/** @param {object} [chosen] @param {object} [difference] */
const state = (chosen, difference) =>
  new CompareState({ ...choice, ...chosen }, { variant: {}, text: "a girl", ...difference }, settings);

test("a patch applies only to A, is undone by the same button, and follows the text of B", () => {
  const patched = state().patched(PATCH, "text");
  const [a, b] = patched.questions;
  assert.deepEqual([a.edits, a.patch_from, b.edits], [[PATCH], "a girl", []]);
  assert.equal(whyNoPatch(patched.questions, "text", parts), "");
  const typed = patched.typed({ text: "a girls" });
  assert.deepEqual([typed.choice.patch_from, typed.questions[1].text], ["a girls", "a girls"]);
  const undone = typed.patched(PATCH, "text");
  assert.deepEqual([undone.choice.edits, undone.choice.patch_from], [[], ""]);
});

test("patches from a text other than B's are dropped, and other changes stay", () => {
  const off = "decoder.0.self.weights[0]=set:0";
  const before = state({ edits: [off, "decoder.1.residual[1]=from:B"], patch_from: "a dog" }, { edits: [] });
  assert.deepEqual(before.patched(PATCH, "text").choice.edits, [off, PATCH]);
});

test("a token is taken from its own place, or from another one", () => {
  assert.equal(tokenPatch("decoder", 2, 3, 3), "decoder.2.residual[3]=from:B");
  assert.equal(tokenPatch("decoder", 2, 3, 5), "decoder.2.residual[3]=from:B[5]");
});

test("a patch has the same name as its button", () => {
  const tokens = ["a", "girl"].map((text) => ({ text }));
  const words = (/** @type {string} */ edit) => wordText(patchWords(edit, "decoder", tokens));
  assert.equal(words("decoder.4.self.weighted_values[6]=from:B"), "layer 4, head 6");
  assert.equal(words(tokenPatch("decoder", 2, 1, 1)), "“girl” before layer 2");
  assert.equal(words(tokenPatch("decoder", 2, 0, 1)), "“girl” before layer 2, at position 0");
  for (const other of [tokenPatch("encoder", 2, 1, 1), tokenPatch("decoder", 2, 5, 5), "decoder.2.output[1]=from:B"])
    assert.equal(words(other), other);
});

test("a sentence says so unless B is another text of the same unchanged model", () => {
  const why = (/** @type {object} */ difference, chosen = {}) =>
    whyNoPatch(state(chosen, difference).questions, "text", parts);
  assert.match(why({ text: "a boy" }), /differ in the text alone/);
  assert.match(why({ source: "x" }), /differ in the text alone/);
  assert.match(why({ model: "other" }), /same model/);
  const rewired = why({ variant: { masks: "none", scale: "off" } }); // its model is “as A”
  assert.match(rewired, /the same parts: set B's Mask and Scale 1\/√d to “as A”\.$/);
  assert.match(why({}, { edits: ["embedding=scale:0"] }), /changes to “none”/);
});
