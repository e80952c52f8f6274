// The tab "Layers": predictions after each layer, contributions, information flow, and the effects of removing heads.

import { answerNumber, bestWord } from "../../../ui/frontend/charts/answer_numbers.js";
import { fillSelect, tokenOptions } from "../../../ui/frontend/charts/charts.js";
import { drawChoices, inlineText, optionsOf } from "../../../ui/frontend/dom/dom.js";
import { find } from "../../../ui/frontend/dom/elements.js";
import { markTokens } from "../../../ui/frontend/heads/token_strip.js";
import { currentGroup } from "../../../ui/frontend/state/head_selection.js";
import { urlPosition } from "../../../ui/frontend/state/token_selection.js";
import { answerPosition } from "../analysis/analysis_choice.js";
import { drawAnalysis, exportAnalysis } from "../analysis/analysis_views.js";
import { activeAnalysis, layerElement, showLayersMessage } from "./layer_panel.js";

/** @import { AnalysisPanel, AnalysisRow, ExplorePage, Tab } from "../types.js" */

export default /** @type {Tab} */ ({
  draw: drawLayers,
  exported: (page) => exportAnalysis(page, activeAnalysis(page)),
});

/** @param {ExplorePage} page */
function drawLayers(page) {
  const { analyses } = page.state.catalogue;
  const open = activeAnalysis(page);
  const place = layerElement(page, "analyses");
  drawChoices(place, "analysis", optionsOf(analyses), open.name, (analysis) => page.change({ analysis }));
  const lesson = layerElement(page, "layers-lesson");
  lesson.textContent = open.lesson;
  lesson.hidden = !open.lesson;
  layerElement(page, "analysis").ariaLabel = open.title;
  showLayersMessage(page, "");
  drawAnswerSelects(page, open);
  drawAnalysis(page, {
    root: page.view.panels.layers,
    row: open,
    refuse: (sentence) => showLayersMessage(page, sentence),
    mark: marksOf(page),
  });
}

/** Marks the tokens of a part that is pointed at, or else that of the answer. @param {ExplorePage} page @returns {AnalysisPanel["mark"]} */
function marksOf(page) {
  return (query, key) => {
    const [side, position] = query ?? ["text", answerPosition(page)];
    markTokens(page, { side, position }, key && { side: key[0], position: key[1] });
  };
}

/** @param {ExplorePage} page @param {AnalysisRow} analysis */
function drawAnswerSelects(page, { reads, of_likeliest }) {
  const [hasTarget, hasAttention] = [reads.includes("target_token"), reads.includes("attention")];
  const { tokens, predictions, attention_groups } = page.state.answer;
  const { target_token } = page.state.choice;
  const [query, targets, attention] = ["query", "target", "attention"].map((name) =>
    layerElement(page, `layers-${name}`, HTMLSelectElement),
  );
  fillSelect(query, tokenOptions(tokens), answerPosition(page), (value) =>
    page.change({ query: urlPosition(page, Number(value)), target_token: -1 }),
  );
  const ofWholeText = predictions[0]?.token_text === null;
  const placeless = (hasTarget || of_likeliest) && ofWholeText;
  find(page.view.panels.layers, '[data-part="place"]').hidden = placeless;
  markTokens(page, { side: "text", position: placeless ? -1 : answerPosition(page) });
  find(page.view.panels.layers, '[data-part="answers"]').hidden = !hasTarget || !predictions.length;
  fillSelect(targets, answerOptions(page), target_token, (value) => page.change({ target_token: Number(value) }));
  find(page.view.panels.layers, '[data-part="attentions"]').hidden = !hasAttention || attention_groups.length < 2;
  fillSelect(attention, optionsOf(attention_groups), currentGroup(page)?.name, (name) =>
    page.change({ attention: name }),
  );
}

/**
 * Answers to choose from: the likeliest, the candidates, and the chosen one if it is not among them.
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
    `${inlineText(text)}  ${answerNumber(predictions[0], after)}`,
  ]);
  if (target_token >= 0 && !options.some(([id]) => id === target_token))
    options.push([target_token, `token ${target_token}`]);
  return [/** @type {[number, string]} */ ([-1, `the ${bestWord(predictions[0] ?? {})}`]), ...options];
}
