// The predictions of both sides, over all answers that either can predict, with the difference.

import { createTrack } from "../../ui/frontend/charts/track.js";
import {
  createElement,
  formatPercent,
  inlineText,
  quotedToken,
  updateChildren,
  visibleText,
} from "../../ui/frontend/dom/dom.js";
import { barsLegend, changeLabel } from "../../ui/frontend/heads/predictions.js";

/** @import { ComparedCandidate, ComparedPrediction } from "./types.d.ts" */

/** @param {HTMLElement} panel @param {ComparedPrediction[]} predictions */
export function drawPredictions(panel, predictions) {
  if (!predictions.length) {
    return panel.replaceChildren(
      createElement("h3", "", "No prediction"),
      createElement("p", "quiet", "One of the two models ends without a head."),
    );
  }
  const words = createElement("span", "", " · probabilities over everything that either can predict");
  updateChildren(panel, ...predictions.map(createPrediction), barsLegend("A", "B", words));
}

/** @param {ComparedPrediction} prediction */
function createPrediction({ titles, places, positions, distance, candidates }) {
  const title = createElement("h3", "", titles[0] === titles[1] ? titles[0] : titles.join(" / "));
  const where = createElement("p", "quiet");
  places.forEach(([preposition, text], side) => {
    where.append(`${side ? " · " : ""}${"AB"[side]}: ${preposition}`);
    if (text !== null) where.append(quotedToken({ text }), ` (position ${positions[side]})`);
  });
  where.append(` · Jensen–Shannon distance ${distance.toFixed(3)}`);
  const testid = `prediction-${positions[0]}`;
  const list = createElement("ol", "bars changed pairs", candidates.map(createCandidate), { testid });
  return createElement("section", "prediction", [title, where, list]);
}

/** @param {ComparedCandidate} candidate */
function createCandidate({ text, left, right }) {
  const number = (/** @type {number | null} */ share) =>
    createElement("span", "number", share === null ? "cannot" : formatPercent(share));
  const row = createElement("li", "candidate", [
    createElement("bdi", "token", visibleText(text)),
    createTrack(right, left),
    number(left),
    number(right),
    createChange(left, right),
  ]);
  const words = [left, right].map(
    (share, side) => `${"AB"[side]} ${share === null ? "cannot predict it" : formatPercent(share)}`,
  );
  row.ariaLabel = `${inlineText(text)}: ${words.join(", ")}`;
  row.title = `${visibleText(text)}  ${words.join(", ")}`;
  return row;
}

/** The change from A to B. @param {number | null} left @param {number | null} right */
function createChange(left, right) {
  return left === null || right === null ? createElement("span", "difference", "") : changeLabel(right - left);
}
