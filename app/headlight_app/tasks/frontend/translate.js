// Translate: the source, the target token by token, and the cross-attention between them.

import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { remembered } from "../../ui/frontend/state/memory.js";
import { chooseQuery } from "../../ui/frontend/state/token_selection.js";
import { drawAlignment, markAlignment } from "./alignment.js";
import { exactWeights } from "./alignment_weights.js";
import { exportedAlignment } from "./export/alignment.js";

/** @import { ExplorePage } from "../../explore/frontend/types.js" */

const PACE = 600; // milliseconds for a token

const memory = remembered((/** @type {ExplorePage} */ _) => ({ timer: 0 }));

/** @param {ExplorePage} page @param {string} name */
const part = (page, name) => findByTestId(page.view.elements.root, name);

export default {
  /** @param {ExplorePage} page */
  draw(page) {
    const alignment = writtenAlignment(page);
    if (!alignment) return;
    drawAlignment(page, part(page, "translate-alignment"), alignment);
    drawSteps(page, writtenUpTo(page), alignment.outputs.length);
  },

  /** @param {ExplorePage} page */
  markPointer(page) {
    markAlignment(page, part(page, "translate-alignment"));
  },

  /** @param {ExplorePage} page */
  async exported(page) {
    const alignment = writtenAlignment(page);
    if (!alignment) throw new Error("Nothing is written yet, so there is nothing to export.");
    const written = { ...alignment, outputs: alignment.outputs.filter(({ ahead }) => !ahead) };
    return exportedAlignment("translate", written, await exactWeights(page, alignment.attention));
  },
};

/** The tokens of both sides, and the attention that connects them; null if there is none. @param {ExplorePage} page */
function writtenAlignment(page) {
  const { tokens, source_tokens, attention_groups } = page.state.answer;
  const cross = attention_groups.find(({ kind }) => kind === "cross");
  if (!cross || !source_tokens) return null;
  const step = writtenUpTo(page);
  const outputs = tokens
    .slice(1) // without the start token
    .map(({ text }, query) => ({ text, query, note: "", wrong: false, ahead: query > step }));
  return { attention: cross.name, inputs: source_tokens, outputs, verb: "was written looking at" };
}

/** The query that predicted the last shown token. @param {ExplorePage} page */
function writtenUpTo(page) {
  const { query } = page.state.choice;
  const last = page.state.answer.tokens.length - 2;
  return query < 0 || query > last ? last : query;
}

/** @param {ExplorePage} page @param {number} step @param {number} count */
function drawSteps(page, step, count) {
  const [back, play, on] = ["write-back", "write-play", "write-on"].map((name) =>
    findByTestId(page.view.elements.root, name, HTMLButtonElement),
  );
  const isPlaying = memory(page).timer !== 0;
  const isWhole = step >= count - 1;
  part(page, "write-count").textContent = isWhole
    ? `${count} tokens written`
    : `${step + 1} of ${count} tokens written`;
  back.disabled = step < 1;
  on.disabled = isWhole;
  play.disabled = count === 0;
  play.textContent = isPlaying ? "Pause" : isWhole ? "Write it again" : "Go on";
  back.onclick = () => show(page, Math.max(0, writtenUpTo(page) - 1), count); // two clicks may precede one redraw
  on.onclick = () => show(page, writtenUpTo(page) + 1, count);
  play.onclick = () => (isPlaying ? pause(page) : start(page, isWhole ? 0 : step, count));
}

/** @param {ExplorePage} page @param {number} step @param {number} count */
function show(page, step, count) {
  stop(page);
  chooseQuery(page, step >= count - 1 ? count : step); // the last token completes the text
}

/** @param {ExplorePage} page @param {number} step @param {number} count */
function start(page, step, count) {
  const { text, source } = page.state.choice;
  let next = step;
  const tick = () => {
    const { choice } = page.state;
    if (!page.view.elements.root.isConnected || choice.text !== text || choice.source !== source) return stop(page);
    if (next >= count - 1) show(page, next, count);
    else chooseQuery(page, next++);
  };
  memory(page).timer = window.setInterval(tick, PACE);
  tick();
}

/** @param {ExplorePage} page */
function pause(page) {
  stop(page);
  page.view.redraw();
}

/** @param {ExplorePage} page */
function stop(page) {
  clearInterval(memory(page).timer);
  memory(page).timer = 0;
}
