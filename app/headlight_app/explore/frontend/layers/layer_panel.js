// Shared by the modules of the tab "Layers": its elements, the open analysis, and the sentence in its place.

import { findByTestId } from "../../../ui/frontend/dom/elements.js";

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
 * Shows a sentence instead of an analysis that this model does not support; returns whether it does.
 * @param {ExplorePage} page @param {string} sentence
 */
export function showLayersMessage(page, sentence) {
  const message = layerElement(page, "layers-silent");
  message.textContent = sentence;
  message.hidden = !sentence;
  layerElement(page, "analysis").hidden = Boolean(sentence);
  if (sentence) layerElement(page, "layers-lesson").hidden = true;
  return Boolean(sentence);
}
