// Shared by the modules of the tab "Layers": its elements, the open analysis, and the sentence in its place.

import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { offeredAnalyses } from "../offered.ts";
import type { ExplorePage } from "../types.ts";

/** @param name its data-testid */
export function layerElement<T extends HTMLElement = HTMLElement>(page: ExplorePage, name: string, type?: new () => T) {
  return findByTestId(page.view.panels.layers, name, type);
}

/** The row of the open analysis. */
export function activeAnalysis(page: ExplorePage) {
  const analyses = offeredAnalyses(page);
  return analyses.find(({ name }) => name === page.state.choice.analysis) ?? analyses[0];
}

/** Shows a sentence instead of an analysis that this model does not support; returns whether it does. */
export function showLayersMessage(page: ExplorePage, sentence: string) {
  const message = layerElement(page, "layers-silent");
  message.textContent = sentence;
  message.hidden = !sentence;
  layerElement(page, "analysis").hidden = Boolean(sentence);
  if (sentence) layerElement(page, "layers-lesson").hidden = true;
  return Boolean(sentence);
}
