// Example sentences, and hints about what to see in them.

import { drawExampleButtons } from "../../ui/frontend/dom/dom.ts";
import { remembered } from "../../ui/frontend/dom/memory.ts";
import { codeWeights } from "../../ui/frontend/heads/query_key_order.ts";
import { currentGroup } from "../../ui/frontend/state/head_selection.ts";
import { fitHeights } from "../../ui/frontend/text_box.ts";
import { offeredTabs } from "./offered.ts";
import { changeInWords } from "./prediction/what_changed.ts";
import type { ExampleAnswer, ExplorePage } from "./types.ts";

const EVERY_PART = "Every part is interactive: click one to open it below.";
const HEADS_ALONE = "Click the heads of a layer to open them below.";

const memory = remembered(() => ({ chosen: null as ExampleAnswer | null }));

export function drawExamples(page: ExplorePage) {
  const { text, source, secondText, boxes, examples } = page.view.elements;
  const title = (example: ExampleAnswer) => example.source || example.text;
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

/** Selects the head named by an example's hint once the example's answer has arrived. */
export function followExample(page: ExplorePage) {
  const { chosen } = memory(page);
  const { question } = page.state.answer;
  if (!chosen || question.text !== chosen.text || question.source !== chosen.source) return;
  memory(page).chosen = null;
  const head = spokenOf(page, chosen);
  if (!head) return;
  page.change({ ...head, heads: [] });
  page.view.elements.grid.querySelector(".thumb.chosen")?.scrollIntoView({ block: "nearest" });
}

/** The first head in the example's order, or the head whose query attends most to its key. */
export function spokenOf(page: ExplorePage, { sort, query, key }: ExampleAnswer) {
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

/** What the last change has changed; else for an example sentence, the hint about its heads, or one about the picture. */
export function drawHint(page: ExplorePage, tab: string) {
  const { text, source } = page.state.answer.question;
  const example = page.state.catalogue.examples.find((one) => one.text === text && one.source === source);
  const hint = (tab === "heads" && example?.hint) || "";
  const change = changeInWords(page);
  const place = page.view.elements.hint;
  const opens = offeredTabs(page).length === page.state.catalogue.tabs.length ? EVERY_PART : HEADS_ALONE;
  place.textContent = change || hint || opens;
  place.title = change; // the line may be too short for it
  place.classList.toggle("telling", Boolean(change));
}
