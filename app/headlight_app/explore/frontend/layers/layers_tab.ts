// The tab "Layers": predictions after each layer, contributions, information flow, and the effects of removing heads.

import { answerNumber, bestWord } from "../../../ui/frontend/charts/answer_numbers.ts";
import { fillSelect, tokenOptions } from "../../../ui/frontend/charts/charts.ts";
import { drawChoices, inlineText, optionsOf } from "../../../ui/frontend/dom/dom.ts";
import { find } from "../../../ui/frontend/dom/elements.ts";
import { markTokens } from "../../../ui/frontend/heads/token_strip.ts";
import { currentGroup } from "../../../ui/frontend/state/head_selection.ts";
import { urlPosition } from "../../../ui/frontend/state/token_selection.ts";
import { answerPosition } from "../analysis/analysis_choice.ts";
import { drawAnalysis, exportAnalysis } from "../analysis/analysis_views.ts";
import { offeredAnalyses } from "../offered.ts";
import type { AnalysisPanel, AnalysisRow, ExplorePage, Tab } from "../types.ts";
import { activeAnalysis, layerElement, showLayersMessage } from "./layer_panel.ts";

export default { draw: drawLayers, exported: (page) => exportAnalysis(page, activeAnalysis(page)) } as Tab;

function drawLayers(page: ExplorePage) {
  const open = activeAnalysis(page);
  const place = layerElement(page, "analyses");
  drawChoices(place, "analysis", optionsOf(offeredAnalyses(page)), open.name, (analysis) => page.change({ analysis }));
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

/** Marks the tokens of a part that is pointed at, or else that of the answer. */
function marksOf(page: ExplorePage): AnalysisPanel["mark"] {
  return (query, key) => {
    const [side, position] = query ?? ["text", answerPosition(page)];
    markTokens(page, { side, position }, key && { side: key[0], position: key[1] });
  };
}

function drawAnswerSelects(page: ExplorePage, { reads, of_likeliest }: AnalysisRow) {
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

/** Answers to choose from: the likeliest, the candidates, and the chosen one if it is not among them. */
function answerOptions(page: ExplorePage) {
  const { predictions } = page.state.answer;
  const { target_token } = page.state.choice;
  const position = answerPosition(page);
  const only = predictions.length === 1 ? predictions[0] : undefined;
  const prediction = predictions.find((one) => one.position === position) ?? only;
  const options: [number, string][] = (prediction?.candidates ?? []).map(({ id, text, after }) => [
    id,
    `${inlineText(text)}  ${answerNumber(predictions[0], after)}`,
  ]);
  if (target_token >= 0 && !options.some(([id]) => id === target_token))
    options.push([target_token, `token ${target_token}`]);
  return [[-1, `the ${bestWord(predictions[0] ?? {})}`] as [number, string], ...options];
}
