// The predictions of both sides, over all answers that either can predict, with the difference.

import type { Meaning } from "../../ui/frontend/charts/answer_numbers.ts";
import { answerNumber, areIndependent, areScores, createAnswerTrack } from "../../ui/frontend/charts/answer_numbers.ts";
import { createElement, inlineText, quotedToken, updateChildren, visibleText } from "../../ui/frontend/dom/dom.ts";
import { barsLegend, changeLabel } from "../../ui/frontend/heads/predictions.ts";
import type { ComparedCandidate, ComparedPrediction } from "./types.ts";

export function drawPredictions(panel: HTMLElement, predictions: ComparedPrediction[]) {
  if (!predictions.length) {
    return panel.replaceChildren(
      createElement("h3", "", "No prediction"),
      createElement("p", "quiet", "One of the two models ends without a head."),
    );
  }
  const words = createElement("span", "", ` · ${numbersText(predictions[0])}`);
  updateChildren(panel, ...predictions.map(createPrediction), barsLegend("A", "B", words));
}

/** What each side's numbers mean. */
export function meaningsOf({ problem_types = ["single-label", "single-label"] }: ComparedPrediction) {
  return problem_types.map((problem_type) => ({ problem_type }));
}

/** Whether both sides' numbers can be subtracted: both are probabilities, or both are scores. */
export function areComparable([left, right]: Meaning[]) {
  return areScores(left) === areScores(right);
}

function numbersText(prediction: ComparedPrediction) {
  const words = meaningsOf(prediction).map((meaning) => {
    if (areScores(meaning)) return "scores";
    return areIndependent(meaning) ? "probabilities, each label by itself" : "probabilities";
  });
  if (words[0] !== words[1]) return `A: ${words[0]} · B: ${words[1]}`;
  return words[0] === "probabilities" ? "probabilities over everything that either can predict" : words[0];
}

function createPrediction(prediction: ComparedPrediction) {
  const { titles, places, positions, distance, candidates } = prediction;
  const title = createElement("h3", "", titles[0] === titles[1] ? titles[0] : titles.join(" / "));
  const where = createElement("p", "quiet");
  places.forEach(([preposition, text], side) => {
    where.append(`${side ? " · " : ""}${"AB"[side]}: ${preposition}`);
    if (text !== null) where.append(quotedToken({ text }), ` (position ${positions[side]})`);
  });
  if (distance !== null) where.append(` · Jensen–Shannon distance ${distance.toFixed(3)}`);
  const testid = `prediction-${positions[0]}`;
  const list = createElement(
    "ol",
    "bars changed pairs",
    candidates.map((each) => createCandidate(prediction, each)),
    { testid },
  );
  return createElement("section", "prediction", [title, where, list]);
}

function createCandidate(prediction: ComparedPrediction, { text, left, right }: ComparedCandidate) {
  const meanings = meaningsOf(prediction);
  const all = prediction.candidates.flatMap((each) => [each.left, each.right]);
  const numbers = [left, right].map((share, side) => (share === null ? null : answerNumber(meanings[side], share)));
  const row = createElement("li", "candidate", [
    createElement("bdi", "token", visibleText(text)),
    areComparable(meanings) ? createAnswerTrack(meanings[0], all, right, left) : createElement("span"),
    ...numbers.map((number) => createElement("span", "number", number ?? "cannot")),
    createChange(meanings, left, right),
  ]);
  const words = numbers.map((number, side) => `${"AB"[side]} ${number ?? "cannot predict it"}`);
  row.ariaLabel = `${inlineText(text)}: ${words.join(", ")}`;
  row.title = `${visibleText(text)}  ${words.join(", ")}`;
  return row;
}

/** The change from A to B. */
function createChange(meanings: Meaning[], left: number | null, right: number | null) {
  if (left === null || right === null || !areComparable(meanings)) return createElement("span", "difference", "");
  return changeLabel(meanings[0], right - left);
}
