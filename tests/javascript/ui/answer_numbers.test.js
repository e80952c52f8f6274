// The numbers of answers: percent, or scores with bars on both sides of zero.

import "../dom.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { announcedPrediction } from "../../../app/headlight_app/explore/frontend/prediction/announcement.ts";
import {
  answerNumber,
  changeLabel,
  createAnswerTrack,
} from "../../../app/headlight_app/ui/frontend/charts/answer_numbers.ts";
import { wordsOf } from "../opened.js";

const SCORE = /** @type {const} */ ({ problem_type: "regression" });
const LABELS = /** @type {const} */ ({ problem_type: "multi-label" });

test("scores keep the digits before the point, and have no percent sign", () => {
  const numbers = [0.123456, -7.3, 1234.5, 98765.4, 0];
  assert.deepEqual(
    numbers.map((number) => answerNumber(SCORE, number)),
    ["0.1235", "−7.3", "1,235", "98,765", "0"],
  );
  assert.equal(answerNumber(LABELS, 0.5), "50.0 %");
  assert.equal(answerNumber({}, 0.5), "50.0 %");
});

test("a change is in percentage points or in units of the score", () => {
  assert.equal(wordsOf(changeLabel(0.5, 0.377, false)), "▼ 12.3");
  assert.equal(wordsOf(changeLabel(-1, 1.5, true)), "▲ 2.5");
  assert.equal(wordsOf(changeLabel(1, 1.0001, true)), "± 0");
  assert.equal(wordsOf(changeLabel(0.5, NaN, true)), "");
});

test("a change is the difference of the percentages that are written", () => {
  for (let run = 0; run < 2000; run++) {
    const [before, after] = [run / 4000, ((run * 7919) % 4001) / 4000];
    const [first, second] = [before, after].map((share) => Number((share * 100).toFixed(1)));
    const [sign, size] = wordsOf(changeLabel(before, after, false)).split(" ");
    assert.equal(sign, first === second ? "±" : second > first ? "▲" : "▼");
    assert.equal(size, Math.abs(second - first).toFixed(1));
  }
});

test("bars of scores begin at zero, and bars of probabilities end at 100 %", () => {
  const track = createAnswerTrack(SCORE, [-1, 3], -1);
  const bar = /** @type {HTMLElement} */ (track.querySelector(".bar"));
  assert.deepEqual([bar.style.left, bar.style.width, bar.className], ["0%", "25%", "bar minus"]);
  assert.equal(track.style.getPropertyValue("--zero"), "25%");
  const whole = createAnswerTrack(LABELS, [0.2], 0.2).querySelector(".bar");
  assert.equal(/** @type {HTMLElement} */ (whole).style.width, "20%");
});

test("a score is read aloud as a score", () => {
  const candidates = [{ text: "stars", id: 0, before: -1.5, after: 4.25 }];
  const prediction = { position: 0, title: "Label", preposition: "", token_text: null, candidates, ...SCORE };
  assert.equal(announcedPrediction(prediction, true), "Label: stars 4.25, before −1.5");
});
