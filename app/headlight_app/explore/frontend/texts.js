// The typed texts: a sentence, or the source of an encoder-decoder and the target that it generates itself.

import { fitHeights, setText } from "../../ui/frontend/text_box.js";

/** @import { ExplorePage } from "./types.js" */

/** Choices that are reset when the text changes. */
export const ANOTHER_TEXT = { masked_positions: [], pinned: [], query: -1, target_token: -1 };

/** @param {ExplorePage} page */
export function listenToTexts(page) {
  const { text, source, writeTarget } = page.view.elements;
  text.readOnly = source.readOnly = false; // input before the listeners exist would be lost
  text.oninput = () => {
    const { masked_positions, pinned } = page.state.choice;
    page.state.writesTarget = false;
    /** @param {number[]} positions */
    const kept = (positions) => keptPositions(page, text.value, positions);
    page.change({
      text: text.value,
      masked_positions: kept(masked_positions),
      pinned: kept(pinned),
      query: -1,
      target_token: -1,
    });
    fitHeights([text, source]); // last: there is time for it while the server computes
  };
  source.oninput = () => {
    page.change({ source: source.value, target_token: -1, ...(page.state.writesTarget ? ANOTHER_TEXT : {}) });
    fitHeights([text, source]);
  };
  writeTarget.onclick = () => {
    page.state.writesTarget = true;
    page.change(ANOTHER_TEXT);
    text.focus();
  };
}

/** Shows the texts, and whether the model wrote the target. @param {ExplorePage} page */
export function drawTexts(page) {
  const { text, source, sourceBox, caption, writeTarget } = page.view.elements;
  const { writesTarget, catalogue, choice } = page.state;
  sourceBox.hidden = !catalogue.has_source || Boolean(catalogue.images);
  const target = catalogue.hears ? "Transcript" : catalogue.images ? "Caption" : "Target";
  caption.textContent = !catalogue.has_source
    ? "Sentence"
    : writesTarget
      ? `${target}: written by the model`
      : `${target}: your own text`;
  writeTarget.hidden = !catalogue.writes_target || writesTarget;
  if (text.value === choice.text) return;
  setText(text, choice.text);
  fitHeights([text, source]);
}

/**
 * The marked positions before the edit; the tokens after it have changed.
 * @param {ExplorePage} page @param {string} text @param {number[]} positions
 */
function keptPositions(page, text, positions) {
  const old = page.state.choice.text;
  let same = 0;
  while (same < Math.min(old.length, text.length) && old[same] === text[same]) same++;
  const ends = page.state.latestAnswer?.tokens.map((token) => token.end) ?? [];
  return positions.filter((position) => ends[position] < same || (ends[position] === same && same === text.length));
}
