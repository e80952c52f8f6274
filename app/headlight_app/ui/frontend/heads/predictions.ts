// Predictions as bars: the probabilities of the likeliest answers, or their scores, before and after every change.

import { answerNumber, areScores, changeLabel, createAnswerTrack, formatScore } from "../charts/answer_numbers.ts";
import { createElement, quotedToken, updateChildren, visibleText } from "../dom/dom.ts";
import { formatNumber } from "../dom/numbers.ts";
import type { Candidate, Page, Prediction } from "../types.ts";

export function drawPredictions(page: Page) {
  const panel = page.view.elements.predictions;
  const { predictions, changed, no_prediction_reason } = page.state.answer;
  if (no_prediction_reason)
    return panel.replaceChildren(
      createElement("h3", "", "No prediction"),
      createElement("p", "quiet", no_prediction_reason),
    );
  updateChildren(
    panel,
    ...predictions.map((prediction) => drawPrediction(page, prediction, changed, predictions.length)),
  );
  if (changed) panel.append(barsLegend("as trained", "with your changes", changesNote(predictions)));
}

/** The unit of the changes. */
function changesNote([first]: readonly Prediction[]) {
  const words = first && areScores(first) ? "▲▼ change of the score" : "▲▼ in percentage points";
  return createElement("span", "points", words);
}

function drawPrediction(page: Page, prediction: Prediction, changed: boolean, count: number) {
  const title = createElement("h3", "", prediction.title);
  const where = createElement("p", "quiet", prediction.preposition);
  if (prediction.token_text !== null)
    where.append(
      quotedToken({ text: prediction.token_text }),
      createElement("span", "", ` (position ${prediction.position})`),
    );
  const list = createElement("ol", changed ? "bars changed" : "bars");
  list.dataset.testid = `prediction-${prediction.position}`;
  const shown = prediction.candidates.slice(0, count > 1 ? 5 : 10);
  const numbers = shown.flatMap(({ before, after }) => (changed ? [before, after] : [after]));
  list.append(...shown.map((item) => drawCandidate(page, prediction, item, numbers)));
  return createElement("section", "prediction", [title, where, list, ...lessonOf(prediction)]);
}

/** What the numbers mean, if it is not obvious; the score of a lone label comes first. */
function lessonOf({ lesson, candidates }: Prediction) {
  const score = candidates.length === 1 ? candidates[0].score : undefined;
  const words = score === undefined || score === null ? "" : `Score ${formatScore(score)}. `;
  return lesson ? [createElement("p", "quiet", words + lesson)] : [];
}

/** @param numbers all that are shown */
function drawCandidate(page: Page, prediction: Prediction, item: Candidate, numbers: number[]) {
  const { changed } = page.state.answer;
  const row = createElement("li", "candidate");
  const name = createElement("button", "ask-about", [createElement("bdi", "token", visibleText(item.text))]);
  name.dataset.target = String(item.id);
  name.ariaPressed = String(page.state.choice.target_token === item.id);
  name.title = `Use ${visibleText(item.text)} as the target token, which steps and explanations are about`;
  name.onclick = () => page.change({ target_token: page.state.choice.target_token === item.id ? -1 : item.id });
  const track = createAnswerTrack(prediction, numbers, item.after, changed ? item.before : undefined);
  row.append(name, track, createElement("span", "number", answerNumber(prediction, item.after)));
  if (changed) row.append(changeLabel(item.before, item.after, areScores(prediction)));
  const was = changed ? `, before ${answerNumber(prediction, item.before)}` : "";
  const { score } = item;
  row.ariaLabel = `${item.text}: ${answerNumber(prediction, item.after)}${was}`;
  row.title = `${visibleText(item.text)}  ${formatNumber(item.after)}${changed ? `  (before ${formatNumber(item.before)})` : ""}${typeof score === "number" ? `  score ${formatScore(score)}` : ""}`;
  return row;
}

/** The legend of a candidate's two bars. */
function barsLegend(before: string, after: string, words: HTMLElement) {
  const [first, second] = ["before", "after"].map((side) => createElement("i", `swatch ${side}`));
  return createElement("p", "quiet key-line", [first, before, second, after, words]);
}

/** Marks the target token, if one was chosen. */
export function markTarget(page: Page) {
  for (const name of page.view.elements.predictions.querySelectorAll("[data-target]")) {
    name.ariaPressed = String(Number(name.getAttribute("data-target")) === page.state.choice.target_token);
  }
}
