// The tab "Layers": what each layer would say, what each part adds, where it came from, and what goes without a head.

import { currentGrid } from "../../../../model/rendering/static/state/head_selection.js";
import { urlPosition } from "../../../../model/rendering/static/state/token_selection.js";
import { fillSelect, tokenOptions } from "../../../../model/rendering/static/ui/charts.js";
import { drawChoices, formatPercent, inlineText } from "../../../../model/rendering/static/ui/dom.js";
import { find } from "../../../../model/rendering/static/ui/elements.js";
import { drawAblation } from "./ablation.js";
import { drawContributions } from "./contributions.js";
import { drawFlow } from "./information_flow.js";
import { answerPosition, layerElement, layerSections, showLayersMessage } from "./layer_panel.js";
import { drawLogitLens } from "./logit_lens.js";

/** @import { ExplorePage, Tab } from "../types.js" */
/** @typedef {{ title: string, draw: (page: ExplorePage) => void, answers?: boolean, attentions?: boolean }} LayerPanel */

/**
 * `answers` and `attentions`: whether there is one to choose.
 * @type {Readonly<Record<string, LayerPanel>>}
 */
const PANELS = {
  logit_lens: { title: "Logit lens", draw: drawLogitLens },
  logit_attribution: { title: "Logit attribution", draw: drawContributions, answers: true },
  information_flow: { title: "Information flow", draw: drawFlow },
  head_ablation: { title: "Ablate all", draw: drawAblation, answers: true, attentions: true },
};

export default /** @type {Tab} */ ({ draw: drawLayers });

/** @param {ExplorePage} page */
function drawLayers(page) {
  const open = PANELS[page.state.choice.analysis] ? page.state.choice.analysis : "logit_lens";
  const titles = Object.entries(PANELS).map(([name, { title }]) => /** @type {[string, string]} */ ([name, title]));
  drawChoices(layerElement(page, "layers-panels"), "analysis", titles, open, (panel) =>
    page.change({ analysis: panel }),
  );
  for (const section of layerSections(page)) section.hidden = section.dataset.panel !== open;
  showLayersMessage(page, "");
  drawAnswerSelects(page, PANELS[open]);
  PANELS[open].draw(page);
}

/** @param {ExplorePage} page @param {LayerPanel} panel */
function drawAnswerSelects(page, { answers, attentions }) {
  const { tokens, predictions, attention_groups } = page.state.answer;
  const { target_token } = page.state.choice;
  const [query, targets, attention] = ["query", "target", "attention"].map((name) =>
    layerElement(page, `layers-${name}`, HTMLSelectElement),
  );
  fillSelect(query, tokenOptions(tokens), answerPosition(page), (value) =>
    page.change({ query: urlPosition(page, Number(value)), target_token: -1 }),
  );
  find(page.view.panels.layers, '[data-part="answers"]').hidden = !answers || !predictions.length;
  fillSelect(targets, answerOptions(page), target_token, (value) => page.change({ target_token: Number(value) }));
  find(page.view.panels.layers, '[data-part="attentions"]').hidden = !attentions || attention_groups.length < 2;
  const titles = attention_groups.map(({ name, title }) => /** @type {[string, string]} */ ([name, title]));
  fillSelect(attention, titles, currentGrid(page)?.name, (name) => page.change({ attention: name }));
}

/**
 * Answers to choose from: the likeliest, the candidates, and the chosen one where it is none of them.
 * @param {ExplorePage} page
 */
function answerOptions(page) {
  const { predictions } = page.state.answer;
  const { target_token } = page.state.choice;
  const position = answerPosition(page);
  const only = predictions.length === 1 ? predictions[0] : undefined;
  const prediction = predictions.find((one) => one.position === position) ?? only;
  /** @type {[number, string][]} */
  const options = (prediction?.candidates ?? []).map(({ id, text, after }) => [
    id,
    `${inlineText(text)}  ${formatPercent(after)}`,
  ]);
  if (target_token >= 0 && !options.some(([id]) => id === target_token))
    options.push([target_token, `token ${target_token}`]);
  return [/** @type {[number, string]} */ ([-1, "the likeliest"]), ...options];
}
