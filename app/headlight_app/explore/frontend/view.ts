// The page around the tabs: the sentence, notes and problems, tokens and predictions.

import { createElement } from "../../ui/frontend/dom/dom.ts";
import { elementsOf, find, findByTestId } from "../../ui/frontend/dom/elements.ts";
import { headElements } from "../../ui/frontend/heads/heads_tab.ts";
import { drawPredictions, markTarget } from "../../ui/frontend/heads/predictions.ts";
import { drawTokenStrips } from "../../ui/frontend/heads/token_strip.ts";
import { clearMeasurements } from "../../ui/frontend/plots/measurements.ts";
import { showProblem } from "../../ui/frontend/questions.ts";
import { drawEdits } from "./edits/edit_list.ts";
import { drawPartsBar } from "./mask/parts_bar.ts";
import { drawPicture } from "./picture/picture.ts";
import { announcePrediction } from "./prediction/announcement.ts";
import { drawExplanations, isExplanation } from "./prediction/explanations.ts";
import { activeTab, drawActiveTab, markActiveTab } from "./tabs.ts";
import { drawTerms } from "./terms.ts";
import type { ExplorePage, ExploreView, Tab } from "./types.ts";

export function createView(page: ExplorePage, place: ParentNode, answerView: Tab | null): ExploreView {
  return {
    elements: exploreElements(place),
    panels: Object.fromEntries(
      page.state.catalogue.tabs.map(({ name }) => [name, findByTestId(place, `panel-${name}`)]),
    ),
    redraw: (fresh = false) => {
      drawActiveTab(page, fresh);
      if (page.state.latestAnswer) answerView?.draw(page, fresh);
    },
    markPointer: () => {
      markActiveTab(page);
      answerView?.markPointer?.(page);
    },
    exportAnswer: () => answerView?.exported?.(page) ?? null,
    drawEdits: () => drawEdits(page),
    showProblem: (sentence) => {
      page.state.fail(sentence);
      drawProblem(page);
    },
  };
}

export function exploreElements(place: ParentNode) {
  const { named, button } = elementsOf(place);
  const text = find(place, "#sentence", HTMLTextAreaElement);
  const source = find(place, "#source", HTMLTextAreaElement);
  const secondText = find(place, "#text-pair", HTMLTextAreaElement);
  return {
    ...headElements(place),
    tokenIds: button("token-ids"),
    caption: find(place, '[for="sentence"]'),
    writeTarget: button("write-target"), // lets the model generate the target instead of the typed one
    chat: button("chat"),
    chatHint: named("chat-hint"),
    addPair: button("add-pair"),
    removePair: button("remove-pair"),
    pairBox: find(place, ".of-pair"),
    text,
    source,
    secondText,
    boxes: [text, source, secondText],
    sourceBox: find(place, ".source"),
    status: named("status"),
    examples: named("examples"),
    hint: named("hint"),
    problem: named("problem"),
    notes: named("notes"),
    answer: find(place, ".answer"),
    board: find(place, ".board"),
    partsBar: named("parts"),
    modelPicture: named("picture"),
    edits: named("edits"),
    changes: button("changes"),
    latest: named("latest"),
    undo: button("undo"),
    redo: button("redo"),
    gallery: named("gallery"),
    invitation: named("invitation"),
  };
}

/** Shows the problem above the older answer. */
export function drawProblem(page: ExplorePage) {
  showProblem(page.view.elements, page.state.problem);
  drawEdits(page);
  markPainted(page);
}

export function drawAnswer(page: ExplorePage) {
  const { answer } = page.state;
  const { elements } = page.view;
  showProblem(elements, "");
  const read = answer.patches
    ? `${answer.patches.rows} × ${answer.patches.columns} patches`
    : answer.sound?.side === "text"
      ? `${answer.tokens.length} frames`
      : `${answer.tokens.length} of ${answer.context} tokens`;
  elements.status.textContent = `${read} · ${Math.round(answer.milliseconds)} ms`;
  const notes = answer.notes.map((note) => createElement("p", "", note));
  if (elements.notes.textContent !== answer.notes.join("")) clearMeasurements(page); // the map fits the window below them
  elements.notes.replaceChildren(...notes);
  drawTokenStrips(page);
  drawTokenIds(page);
  drawTerms(page);
  drawPartsBar(page);
  announcePrediction(page);
  drawPredictions(page);
  drawEdits(page);
  page.view.redraw(true);
  drawAround(page);
  markPainted(page);
}

/** Draws around the open panel: the picture above it, and the reasons for the answer beside it. */
export function drawAround(page: ExplorePage) {
  if (!page.state.latestAnswer) return;
  drawPicture(page);
  drawExplanations(page);
}

/** Redraws only the parts that show a newly arrived result about the answer. @param details of the request */
export function drawArrival(page: ExplorePage, route: string, details: object) {
  if (route === "input_vectors") drawPicture(page);
  const explains = isExplanation(details);
  if (explains)
    drawExplanations(page); // the open panel keeps what is pointed at there
  else if (route !== "input_vectors" || activeTab(page) === "tokens") page.view.redraw();
}

/** Redraws without a request: the open tab, and the active edits. */
export function drawChoice(page: ExplorePage) {
  drawTokenIds(page);
  drawEdits(page);
  markTarget(page);
  page.view.redraw();
  drawAround(page);
}

/** Shows each token's id in the vocabulary if the visitor chose that. */
function drawTokenIds(page: ExplorePage) {
  const { tokenIds, tokens, sourceTokens } = page.view.elements;
  const shown = page.state.choice.token_ids === "1";
  tokenIds.ariaPressed = String(shown);
  tokenIds.onclick = () => page.change({ token_ids: shown ? "" : "1" });
  for (const strip of [tokens, sourceTokens]) strip.classList.toggle("with-ids", shown);
}

/** Exposes the number, text and image of the displayed question, for tests. */
function markPainted(page: ExplorePage) {
  const question = page.state.latestAnswer?.question;
  const { dataset } = page.view.elements.root;
  dataset.painted = String(page.state.answered);
  dataset.sentence = question?.text ?? "";
  dataset.image = question?.image ?? "";
}
