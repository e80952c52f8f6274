// Shared by the panels of the tab "Layers": their elements, the position of the answer, and the selected head.

import { findByTestId } from "../../../ui/frontend/dom/elements.js";
import { currentGroup } from "../../../ui/frontend/state/head_selection.js";
import { queryPosition } from "../../../ui/frontend/state/token_selection.js";

/** @import { ExplorePage } from "../types.js" */

/**
 * @template {HTMLElement} [T=HTMLElement]
 * @param {ExplorePage} page @param {string} name its data-testid @param {new () => T} [type]
 */
export function layerElement(page, name, type) {
  return findByTestId(page.view.panels.layers, name, type);
}

/** The row of the open analysis. @param {ExplorePage} page */
export function activeAnalysis(page) {
  const { analyses } = page.state.catalogue;
  return analyses.find(({ name }) => name === page.state.choice.analysis) ?? analyses[0];
}

/**
 * Shows a sentence instead of an analysis that this model does not support.
 * @param {ExplorePage} page @param {string} sentence
 */
export function showLayersMessage(page, sentence) {
  const message = layerElement(page, "layers-silent");
  message.textContent = sentence;
  message.hidden = !sentence;
  layerElement(page, "analysis").hidden = Boolean(sentence);
  if (sentence) layerElement(page, "layers-lesson").hidden = true;
}

/**
 * Marks a text that waits for an answer, with a message if it is still empty.
 * @param {HTMLElement} words @param {boolean} waits
 */
export function markWaiting(words, waits) {
  words.ariaBusy = String(waits);
  if (waits && !words.hasChildNodes()) words.textContent = "This is being computed …";
}

/**
 * The position of the chosen answer, always a position in the text, whatever attention is shown.
 * @param {ExplorePage} page
 */
export function answerPosition(page) {
  return queryPosition(page, page.state.answer.tokens);
}

/** Selects a head of the chosen attention. @param {ExplorePage} page @param {number} layer @param {number} head */
export function selectHeadOf(page, layer, head) {
  page.change({ attention: currentGroup(page).name, layer, head });
}

/** @param {ExplorePage} page @param {number} layer @param {number} head */
export function isCurrentHead({ state: { choice } }, layer, head) {
  return layer === choice.layer && head === choice.head;
}
