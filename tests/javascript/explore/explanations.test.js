// Explanations in words: a switched-off head, and rankings of tokens.

import assert from "node:assert/strict";
import { test } from "node:test";
import { removalWords } from "../../../app/headlight_app/explore/frontend/layers/ablation/head_removal.js";
import { faithfulWords, readRankings } from "../../../app/headlight_app/explore/frontend/layers/token_rankings.js";

const element = () => ({
  textContent: "",
  append(/** @type {string[]} */ ...words) {
    this.textContent += words.join("");
  },
});
Object.assign(globalThis, { document: { createElement: element }, HTMLButtonElement: class {} });

/** @param {(Node | string)[]} words */
const textOf = (words) => words.map((word) => (typeof word === "string" ? word : word.textContent)).join("");
const REMOVAL = { text: "girl", preposition: "after ", token_text: " little", responses: [], norms: 0 };

test("an effect is named self-repair from a third on", () => {
  const repaired = { ...REMOVAL, before: 3, after: 2.5, direct: -1, self_repair: 0.5, repairs_itself: true };
  assert.match(textOf(removalWords(repaired, "Layer 1, head 2")), /Without layer 1, head 2.*self-repair: .* 50/);
  const little = { ...REMOVAL, before: 3, after: 2.2, direct: -1, self_repair: 0.2, repairs_itself: false };
  assert.match(textOf(removalWords(little, "Layer 1, head 2")), /undoes 20.*too little/);
  const more = { ...REMOVAL, before: 3, after: 1.5, direct: -1, self_repair: -0.5, repairs_itself: false };
  assert.match(textOf(removalWords(more, "Layer 1, head 2")), /adds 50/);
  const tiny = { ...more, direct: 1e-4, self_repair: null };
  assert.match(textOf(removalWords(tiny, "Layer 1, head 2")), /too little to say which share/);
});

const ranking = (
  /** @type {string} */ name,
  /** @type {number} */ deletion_area,
  /** @type {number} */ insertion_area,
) => ({ name, title: name.toUpperCase(), source: "", deletion_area, insertion_area });
const META = {
  text: "girl",
  preposition: "after ",
  token_text: " little",
  rankings: [ranking("weight", 0.2, 0.8), ranking("rollout", 0.6, 0.9), ranking("random", 0.5, 0.4)],
  steps: [0, 1],
  can_go: [0],
  best_deletion: ["weight"],
  best_insertion: ["rollout"],
};

test("the most faithful rankings are named, and those that random order beats", () => {
  const words = textOf(faithfulWords(META));
  assert.match(words, /Most faithful in deletion: WEIGHT; in insertion: ROLLOUT\./);
  assert.match(words, /in both no better than random order: ROLLOUT/);
  const said = (/** @type {string[]} */ best_deletion, /** @type {string[]} */ best_insertion) =>
    textOf(faithfulWords({ ...META, best_deletion, best_insertion }));
  assert.match(said([], []), /No ranking beats random/);
  assert.match(said(["weight"], ["weight"]), /Most faithful here: WEIGHT\./);
  assert.match(said(["weight", "rollout"], []), /in deletion: WEIGHT, ROLLOUT; in insertion: random order\./);
});

test("each ranking has its scores and its two curves", () => {
  const numbers = Float32Array.from({ length: 3 * 7 }, (_, place) => place);
  const [, second] = readRankings({ meta: META, numbers }, 3);
  assert.deepEqual([...second.scores], [7, 8, 9]);
  assert.deepEqual([...second.deletion, ...second.insertion], [10, 11, 12, 13]);
});
