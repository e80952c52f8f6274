// The texts that people type: a sentence, or the source of an encoder-decoder and the target that it writes itself.

import { fitHeights, setText } from "../../ui/frontend/text_box.js";

/** @import { ExplorePage } from "./types.js" */

/** What is given up with the tokens of a text. */
export const ANOTHER_TEXT = { masked_positions: [], pinned: [], query: -1, target_token: -1 };

/** @param {ExplorePage} page */
export function listenToTexts(page) {
  const { text, source, writeTarget } = page.view.elements;
  text.readOnly = source.readOnly = false; // what is typed before somebody listens would be lost
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
    fitHeights([text, source]); // last: while the server works there is time for it
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

/** Shows the texts, and whose the target is. @param {ExplorePage} page */
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
 * Marked tokens before the edited place stay; behind it the tokens are other ones now.
 * @param {ExplorePage} page @param {string} text @param {number[]} positions
 */
function keptPositions(page, text, positions) {
  const old = page.state.choice.text;
  let same = 0;
  while (same < Math.min(old.length, text.length) && old[same] === text[same]) same++;
  const ends = page.state.latestAnswer?.tokens.map((token) => token.end) ?? [];
  return positions.filter((position) => ends[position] < same || (ends[position] === same && same === text.length));
}
