// Example sentences, and hints about what to see in them.

import { drawExampleButtons } from "../../ui/frontend/dom/dom.js";
import { remembered } from "../../ui/frontend/dom/memory.js";
import { codeWeights } from "../../ui/frontend/heads/query_key_order.js";
import { currentGroup } from "../../ui/frontend/state/head_selection.js";
import { fitHeights } from "../../ui/frontend/text_box.js";

/** @import { ExampleAnswer, ExplorePage } from "./types.js" */

const EVERY_PART = "Every part is interactive: click one to open it below.";

const memory = remembered(() => ({ chosen: /** @type {ExampleAnswer | null} */ (null) }));

/** @param {ExplorePage} page */
export function drawExamples(page) {
  const { text, source, secondText, boxes, examples } = page.view.elements;
  const title = (/** @type {ExampleAnswer} */ example) => example.source || example.text;
  drawExampleButtons(examples, page.state.catalogue.examples, title, (example) => {
    text.value = example.text;
    source.value = example.source;
    secondText.value = "";
    fitHeights(boxes);
    page.state.writesTarget = page.state.catalogue.writes_target;
    memory(page).chosen = example;
    const anew = { masked_positions: [], pinned: [], query: -1, key: -1, target_token: -1 };
    page.change({ text: example.text, source: example.source, text_pair: "", sort: example.sort, ...anew });
  });
}

/** Selects the head named by an example's hint once the example's answer has arrived. @param {ExplorePage} page */
export function followExample(page) {
  const { chosen } = memory(page);
  const { question } = page.state.answer;
  if (!chosen || question.text !== chosen.text || question.source !== chosen.source) return;
  memory(page).chosen = null;
  const head = spokenOf(page, chosen);
  if (!head) return;
  page.change({ ...head, heads: [] });
  page.view.elements.grid.querySelector(".thumb.chosen")?.scrollIntoView({ block: "nearest" });
}

/**
 * The first head in the example's order, or the head whose query attends most to its key.
 * @param {ExplorePage} page @param {ExampleAnswer} example
 */
export function spokenOf(page, { sort, query, key }) {
  const group = currentGroup(page);
  const { tokens } = page.state.answer;
  const row = tokens.findLastIndex(({ text }) => text.trim() === query);
  const column = tokens.findIndex(({ text }) => text.trim() === key);
  const scores = group.metrics?.[sort] ?? (Math.min(row, column) < 0 ? null : codeWeights(page, group, row, column));
  if (!scores) return null;
  const places = Array.from({ length: group.layers * group.heads }, (_, place) => place);
  const best = places.reduce((one, other) => ((scores[other] || -1) > (scores[one] || -1) ? other : one), 0);
  return { layer: Math.floor(best / group.heads), head: best % group.heads };
}

/**
 * For an example sentence, the hint about its heads; else a hint about the picture.
 * @param {ExplorePage} page @param {string} tab
 */
export function drawHint(page, tab) {
  const { text, source } = page.state.answer.question;
  const example = page.state.catalogue.examples.find((one) => one.text === text && one.source === source);
  const hint = (tab === "heads" && example?.hint) || "";
  page.view.elements.hint.textContent = hint || EVERY_PART;
}
