// The explanation of a switched-off head in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { removalWords } from "../../../app/headlight_app/explore/frontend/layers/ablation/head_removal.js";

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
