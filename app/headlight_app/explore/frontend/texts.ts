// The typed texts: a sentence, a second text, or the source of an encoder-decoder and the target that it generates.

import { drawChat, fitHeights, setText, withPair } from "../../ui/frontend/text_box.ts";
import type { ExplorePage } from "./types.ts";

/** Choices that are reset when the text changes. */
export const ANOTHER_TEXT = { masked_positions: [], pinned: [], query: -1, target_token: -1 };

export function listenToTexts(page: ExplorePage) {
  const { text, source, secondText, boxes, chat, writeTarget, addPair, removePair } = page.view.elements;
  for (const box of boxes) box.readOnly = false; // input before the listeners exist would be lost
  text.oninput = () => {
    page.state.writesTarget = false;
    page.change({ text: text.value, ...keptMarks(page, { text: text.value }) });
    fitHeights(boxes); // last: there is time for it while the server computes
  };
  source.oninput = () => {
    page.change({ source: source.value, target_token: -1, ...(page.state.writesTarget ? ANOTHER_TEXT : {}) });
    fitHeights(boxes);
  };
  secondText.oninput = () => {
    page.state.opensPair = true; // an emptied box stays open
    page.change({ text_pair: secondText.value, ...keptMarks(page, { text_pair: secondText.value }) });
    fitHeights(boxes);
  };
  chat.onclick = () => {
    page.change({ chat: page.state.choice.chat ? "" : "1", ...ANOTHER_TEXT });
    text.focus();
  };
  addPair.onclick = () => {
    page.state.opensPair = true;
    drawTexts(page);
    secondText.focus();
  };
  removePair.onclick = () => {
    page.state.opensPair = false;
    page.change({ text_pair: "", ...keptMarks(page, { text_pair: "" }) });
    text.focus();
  };
  writeTarget.onclick = () => {
    page.state.writesTarget = true;
    page.change(ANOTHER_TEXT);
    text.focus();
  };
}

/** Shows the texts, and whether the model wrote the target. */
export function drawTexts(page: ExplorePage) {
  const { elements } = page.view;
  const { text, secondText, pairBox, sourceBox, writeTarget, boxes } = elements;
  const { writesTarget, catalogue, choice } = page.state;
  drawPair(page);
  sourceBox.hidden = !catalogue.has_source || Boolean(catalogue.images);
  const target = catalogue.hears ? "Transcript" : catalogue.images ? "Caption" : "Target";
  const caption = !catalogue.has_source
    ? pairBox.hidden
      ? "Sentence"
      : "First text"
    : writesTarget
      ? `${target}: written by the model`
      : `${target}: your own text`;
  drawChat(elements, catalogue.reads_chat, choice.chat === "1", caption);
  writeTarget.hidden = !catalogue.writes_target || writesTarget;
  if (text.value === choice.text && secondText.value === choice.text_pair) return;
  setText(text, choice.text);
  setText(secondText, choice.text_pair);
  fitHeights(boxes);
}

/** Shows the box of the second text, or the button that opens it. */
function drawPair(page: ExplorePage) {
  const { pairBox, addPair } = page.view.elements;
  const { catalogue, choice, opensPair } = page.state;
  const isOffered = catalogue.reads_pair && !choice.chat;
  pairBox.hidden = !isOffered || !(choice.text_pair || opensPair);
  addPair.hidden = !isOffered || !pairBox.hidden;
}

/**
 * The marked positions before an edit; the tokens after it have changed. None in a chat, whose tokens are of another
 * text than the typed one.
 */
function keptMarks(page: ExplorePage, typed: { text?: string; text_pair?: string }) {
  const { masked_positions, pinned, text, text_pair, chat } = page.state.choice;
  if (chat) return ANOTHER_TEXT;
  const old = withPair(text, text_pair);
  const now = withPair(typed.text ?? text, typed.text_pair ?? text_pair);
  let same = 0;
  while (same < Math.min(old.length, now.length) && old[same] === now[same]) same++;
  const ends = page.state.latestAnswer?.tokens.map((token) => token.end) ?? [];
  const kept = (positions: number[]) =>
    positions.filter((position) => ends[position] < same || (ends[position] === same && same === now.length));
  return { masked_positions: kept(masked_positions), pinned: kept(pinned), query: -1, target_token: -1 };
}
