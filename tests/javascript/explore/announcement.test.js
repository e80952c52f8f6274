// The announcement of a prediction after a change.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  announcedChange,
  announcedPrediction,
} from "../../../app/headlight_app/explore/frontend/prediction/announcement.ts";

const candidate = (/** @type {string} */ text, /** @type {number} */ before, /** @type {number} */ after) => ({
  text,
  id: 1,
  before,
  after,
});
const PREDICTION = {
  position: 3,
  title: "Next token",
  preposition: "after",
  token_text: "little",
  candidates: [candidate(" boy", 0.2, 0.1), candidate(" girl", 0.65, 0.613)],
};

test("the likeliest answer is announced with its probability, before and after", () => {
  assert.equal(announcedPrediction(PREDICTION, true), "Next token: girl 61.3 %, before 65.0 %");
  assert.equal(announcedPrediction(PREDICTION, false), "Next token: girl 61.3 %");
});

const KNOWN = { model: "[]", masked: "[]", text: "A", notes: ["It is long."] };

for (const [name, change, words] of /** @type {const} */ ([
  ["a switched-off head is announced", { model: "[off]" }, "Next token: girl 61.3 %, before 65.0 %"],
  [
    "a warning is announced with it, once",
    { model: "[alibi]", notes: ["It is long.", "It was trained otherwise."] },
    "Next token: girl 61.3 %, before 65.0 %. It was trained otherwise.",
  ],
  ["a masked token is announced", { masked: "[2]" }, "Next token: girl 61.3 %, before 65.0 %"],
  ["a letter is not", { text: "A ", masked: "[2]" }, ""],
]))
  test(name, () => assert.equal(announcedChange(KNOWN, { ...KNOWN, ...change }, PREDICTION, true), words));

test("what changed in the head is announced after the prediction, and computed only then", () => {
  const ofHead = () => "Layer 0 · Head 1 is off.";
  assert.equal(
    announcedChange(KNOWN, { ...KNOWN, model: "[off]", notes: ["It is new."] }, undefined, true, ofHead),
    "Layer 0 · Head 1 is off. It is new.",
  );
  assert.equal(
    announcedChange(KNOWN, KNOWN, PREDICTION, true, () => assert.fail()),
    "",
  );
});

test("the first answer is not announced", () => assert.equal(announcedChange(null, KNOWN, PREDICTION, true), ""));
