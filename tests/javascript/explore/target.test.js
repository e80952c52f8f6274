// The target of an encoder-decoder: the model's own until the visitor types one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ExploreState } from "../../../app/headlight_app/explore/frontend/state.ts";
import { createPage } from "./page.js";

/** @import { ExploreAnswer } from "../../../app/headlight_app/explore/frontend/types.ts" */

/** @param {string} text @param {string} source */
const example = (text, source) => ({ text, source, sort: "layer", hint: "", query: "", key: "" });

/** @param {string | null} text @param {string} source */
function stateOf(text, source) {
  const { choice, catalogue } = createPage().state;
  const known = { ...catalogue, opening: example("Das Haus", "The house"), examples: [example("Der Hund", "The dog")] };
  return new ExploreState({ ...choice, text, source }, known, { model: "writer", device: "cpu", measure: "" });
}

/** The target in the request, and whether the model writes it. @param {ExploreState} state */
function asked(state) {
  const { question, writes_target } = state.traceRequest;
  return [question.text, writes_target];
}

test("the model's own target is omitted from the state, and a known one is not requested", () => {
  const state = stateOf(null, "The house");
  assert.equal(state.choice.text, "Das Haus");
  assert.equal(state.told.text, null);
  assert.deepEqual(asked(state), ["Das Haus", false]);
  state.update({ source: "The dog" });
  assert.deepEqual(asked(state), ["Der Hund", false]);
});

test("for another source the model's target is requested and shown", () => {
  const state = stateOf(null, "The house");
  state.update({ source: "The cat" });
  assert.deepEqual(asked(state), ["", true]);
  state.receive(/** @type {ExploreAnswer} */ ({ question: { ...state.question, text: "Die Katze" } }));
  assert.equal(state.choice.text, "Die Katze");
  assert.equal(state.told.text, null);
});

test("a typed target stays when the source changes", () => {
  const state = stateOf("Mein Haus", "The house");
  state.update({ source: "The cat" });
  assert.deepEqual(asked(state), ["Mein Haus", false]);
  assert.equal(state.told.text, "Mein Haus");
  state.adopt({ ...state.told, text: null });
  assert.deepEqual(asked(state), ["", true]);
});

test("after a refusal, the target is empty or the example's", () => {
  const state = stateOf("Mein Haus", "The cat");
  state.writesTarget = true;
  state.fail("The text is too long.", 1);
  assert.equal(state.choice.text, "");
  state.update({ source: "The dog" });
  state.fail("The mask does not fit.", 2);
  assert.equal(state.choice.text, "Der Hund");
});
