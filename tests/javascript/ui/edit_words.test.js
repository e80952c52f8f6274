// Edits in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  describeEdit,
  formatFigure,
  parseEdit,
  wordText,
} from "../../../app/headlight_app/ui/frontend/state/edit_words.ts";
import { createPage, token } from "../explore/page.js";

const NARROW = "\u00a0"; // keeps a sign and its number on one line

/** @param {string} edit @param {Parameters<typeof createPage>[1]} [answer] */
const words = (edit, answer) => wordText(describeEdit(createPage({}, answer).state, edit));

test("an edit is parsed along the axes of its value", () => {
  const read = parseEdit(createPage().state, "decoder.1.self.weights[2,:,0:2]=scale:0.5");
  assert.ok(read);
  const { path, stack, layer, part, hookPoint, at, operation, number } = read;
  assert.deepEqual(
    { path, stack, layer, part, hookPoint },
    { path: "decoder.1.self.weights", stack: "decoder", layer: "1", part: "self", hookPoint: "weights" },
  );
  assert.deepEqual(
    { at, operation, number },
    { at: { head: "2", query: "", key: "0:2" }, operation: "scale", number: 0.5 },
  );
});

test("text that is not an edit is shown as typed", () => {
  for (const text of ["", "hello", "decoder.0.self.unknown=set:0", "decoder.0.self.weights[=set:0", "weights"]) {
    assert.equal(parseEdit(createPage().state, text), null);
    assert.equal(words(text), text);
  }
});

test("heads and layers that are off", () => {
  assert.equal(words("decoder.1.self.weights[2]=set:0"), "Head 2 of layer 1 off");
  assert.equal(words("decoder.1.self.weights[0:2]=set:0"), "Heads 0 to 1 of layer 1 off");
  assert.equal(words("decoder.1.self.weights=set:0"), "All heads of layer 1 off");
  assert.equal(words("decoder.0.feed_forward.output=set:0"), "Feed-forward of layer 0 off");
  assert.equal(words("decoder.2.layer_embedding.output=set:0"), "Layer embedding of layer 2 off");
  assert.equal(words("decoder.0.self.output=scale:0"), "Attention of layer 0 off");
});

test("single weights and cells of the mask name their tokens", () => {
  assert.equal(
    words("decoder.0.self.weights[1,2,0]=set:0.5"),
    "Token 2 “sat” gives token 0 “The” the weight 0.5 in head 1 of layer 0",
  );
  assert.equal(words("decoder.*.self.mask[:,2,1]=set:0"), "Token 2 “sat” cannot see token 1 “dog”");
  assert.equal(words("decoder.*.self.mask[:,2]=set:0"), "Token 2 “sat” cannot see any token");
  assert.equal(words("decoder.0.self.weights[1]=uniform"), "Head 1 of layer 0: every allowed token alike");
});

test("a patch says what it takes from the other text", () => {
  assert.equal(words("decoder.1.residual[2]=from:B"), "Layer 1, token 2 “sat”: residual stream of the other text");
  assert.equal(
    words("decoder.1.residual[2]=from:B[0]"),
    "Layer 1, token 2 “sat”: residual stream of the other text, at 0",
  );
  assert.equal(words("decoder.0.self.output=from:B"), "Layer 0, attention: output of the other text");
  assert.equal(words("decoder.0.unknown=from:B"), "decoder.0.unknown=from:B");
});

test("scores have a temperature, and their scale", () => {
  assert.equal(words("decoder.0.self.scores[1]=scale:0.5"), `Head 1 of layer 0: softmax temperature ×${NARROW}2`);
  assert.equal(words("decoder.0.self.scale=set:1"), "Layer 0: scores without the scale 1/√d");
  assert.equal(words("decoder.0.self.scale[1]=scale:2"), `Head 1 of layer 0: score scale ×${NARROW}2`);
  assert.equal(words("decoder.0.self.scores=scale:0"), `Layer 0: scores ×${NARROW}0`);
});

test("a neuron is switched off", () => {
  assert.equal(words("decoder.1.feed_forward.neurons[:,120]=set:0"), "Layer 1, feed-forward: neuron 120 off");
  assert.equal(words("decoder.*.feed_forward.neurons[:,3:6]=set:0"), "Every layer, feed-forward: neurons 3 to 5 off");
  assert.equal(words("decoder.1.feed_forward.neurons=set:0"), "Layer 1, feed-forward: neurons set to\u00a00");
});

test("other edits are described by place, value and operation", () => {
  assert.equal(words("decoder.1.self.v[0]=add:-2"), `Head 0 of layer 1: values −${NARROW}2`);
  assert.equal(words("embedding[1]=scale:0"), `Embedding, token 1 “dog” ×${NARROW}0`);
});

test("in a model with two texts, the encoder and the source are named", () => {
  const answer = { source_tokens: ["Der", " Hund"].map(token) };
  assert.equal(words("encoder.1.self.weights[2]=set:0", answer), "Head 2 of encoder layer 1 off");
  assert.equal(
    words("decoder.0.cross.weights[0,2,1]=set:1", answer),
    "Token 2 “sat” gives token 1 “Hund” the weight 1 in head 0 of cross-attention layer 0",
  );
});

test("figures are short, with a true minus", () => {
  assert.deepEqual([0.123456, -2, 1000, 1e-7].map(formatFigure), ["0.1235", "−2", "1,000", "1.00·10⁻⁷"]);
});
