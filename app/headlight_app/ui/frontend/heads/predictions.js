// Predictions as bars: the probabilities of the likeliest answers, before and after every change.

import { createTrack } from "../charts/track.js";
import { createElement, formatPercent, quotedToken, updateChildren, visibleText } from "../dom/dom.js";

/** @import { Candidate, Page, Prediction } from "../types.js" */

/** @param {Page} page */
export function drawPredictions(page) {
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
  const points = () => createElement("span", "points", "▲▼ in percentage points");
  if (changed) panel.append(barsLegend("as trained", "with your changes", points()));
}

/** @param {Page} page @param {Prediction} prediction @param {boolean} changed @param {number} count */
function drawPrediction(page, prediction, changed, count) {
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
  list.append(...shown.map((item) => drawCandidate(page, item, changed)));
  return createElement("section", "prediction", [title, where, list]);
}

/** @param {Page} page @param {Candidate} item @param {boolean} changed */
function drawCandidate(page, item, changed) {
  const row = createElement("li", "candidate");
  const name = createElement("button", "ask-about", [createElement("bdi", "token", visibleText(item.text))]);
  name.dataset.target = String(item.id);
  name.ariaPressed = String(page.state.choice.target_token === item.id);
  name.title = `Use ${visibleText(item.text)} as the target token for gradients and contributions`;
  name.onclick = () => page.change({ target_token: page.state.choice.target_token === item.id ? -1 : item.id });
  const track = createTrack(item.after, changed ? item.before : undefined);
  row.append(name, track, createElement("span", "number", formatPercent(item.after)));
  if (changed) row.append(changeLabel(item.after - item.before));
  const was = changed ? `, before ${formatPercent(item.before)}` : "";
  row.ariaLabel = `${item.text}: ${formatPercent(item.after)}${was}`;
  row.title = `${visibleText(item.text)}  ${item.after.toPrecision(4)}${changed ? `  (before ${item.before.toPrecision(4)})` : ""}`;
  return row;
}

/** The change in percentage points, with a sign that does not depend on colour. @param {number} change */
export function changeLabel(change) {
  const points = change * 100;
  const small = Math.abs(points) < 0.05;
  const sign = small ? "±" : points > 0 ? "▲" : "▼";
  return createElement(
    "span",
    `difference ${small ? "" : points > 0 ? "up" : "down"}`,
    `${sign} ${Math.abs(points).toFixed(1)}`,
  );
}

/** The legend of a candidate's two bars. @param {string} before @param {string} after @param {HTMLElement} words */
export function barsLegend(before, after, words) {
  const [first, second] = ["before", "after"].map((side) => createElement("i", `swatch ${side}`));
  return createElement("p", "quiet key-line", [first, before, second, after, words]);
}

/** Marks the target token, if one was chosen. @param {Page} page */
export function markTarget(page) {
  for (const name of page.view.elements.predictions.querySelectorAll("[data-target]")) {
    name.ariaPressed = String(Number(name.getAttribute("data-target")) === page.state.choice.target_token);
  }
}
