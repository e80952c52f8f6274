// Transcribe: the tokens of a transcript, each with the span of the recording that the alignment heads look at.

import { runOf } from "../../../explore/frontend/export/shown_run.js";
import { addBars } from "../../../ui/frontend/charts/figure_charts.js";
import { titled } from "../../../ui/frontend/charts/shapes.js";
import { createElement, inlineText, onHover, updateChildren } from "../../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../../ui/frontend/dom/elements.js";
import { createTable, numbered } from "../../../ui/frontend/export/page_export.js";
import { activeQueries, lockQuery, setHover } from "../../../ui/frontend/state/token_selection.js";
import { drawPanels } from "../../../ui/frontend/views/export/figures.js";
import { askWeights, knownWeights, shownHeads } from "../alignment_weights.js";

/** @import { AttentionGroup, Box, ExplorePage, Figure, ShownDrawing } from "../types.js" */
/** @typedef {{ text: string, query: number, from: number, to: number }} Span in seconds, of the token that a query wrote */

const TITLE = "When each token was heard";
const OUTSIDE = 0.25; // share of a token's weights before its span, and also after it

/** @param {ExplorePage} page @param {string} name */
const part = (page, name) => findByTestId(page.view.elements.root, name);

export default {
  /** @param {ExplorePage} page */
  draw(page) {
    const heard = alignment(page);
    const numbers = heard && knownWeights(page, heard.group.name, heard.heads, "mean");
    if (!numbers) return;
    const whole = heard.sound.frames_read * heard.sound.frame_seconds;
    const rows = spansOf(page, heard, numbers).map((span) => createRow(page, span, whole));
    updateChildren(part(page, "transcript"), ...rows);
    part(page, "transcript-reading").textContent = heard.words;
    mark(page);
  },

  markPointer: mark,

  /** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
  async exported(page) {
    const heard = alignment(page);
    if (!heard) throw new Error("This model does not read recordings.");
    const spans = spansOf(page, heard, await askWeights(page, heard.group.name, heard.heads, "mean"));
    return {
      name: "transcript",
      shown: `the middle of the span of the recording that each written token looks at, in seconds. ${heard.words}`,
      sides: [runOf(page)],
      draw: drawPanels([(figure) => titled(figure, TITLE, (box) => addMiddles(figure, spans, box))], false),
      tables: {
        [TITLE]: createTable(
          "transcript",
          { token: numbered(spans), second: ["from", "to"] },
          spans.flatMap(({ from, to }) => [from, to]),
        ),
      },
    };
  },
};

/** @param {Figure} figure @param {Span[]} spans @param {Box} box */
function addMiddles(figure, spans, box) {
  const rows = spans.map(({ text, from, to }) => ({ label: inlineText(text), values: [(from + to) / 2] }));
  const most = Math.max(0, ...rows.flatMap(({ values }) => values));
  const format = (/** @type {number} */ seconds) => `${seconds.toFixed(2)} s`;
  return addBars(figure, { rows, kinds: [""], most, format, missing: "" }, box);
}

/** The alignment heads that the checkpoint lists, else the shown heads. @param {ExplorePage} page */
function alignment(page) {
  const { attention_groups, sound } = page.state.answer;
  const group = attention_groups.find(({ kind }) => kind === "cross");
  if (!group || !sound) return null;
  const aligned = /** @type {[number, number][]} */ (group.aligned);
  const heads = aligned.length ? aligned : shownHeads(page, group).heads;
  const named = heads.length === 1 ? "the alignment head" : `the ${heads.length} alignment heads (mean)`;
  const which = aligned.length ? named : "the heads that are shown";
  const words = `Weights of ${which} over what was heard: a quarter of the weight lies before each span, and a quarter after it.`;
  return { group, sound, heads, words };
}

/**
 * @param {ExplorePage} page @param {{ group: AttentionGroup, sound: { frames_read: number, frame_seconds: number } }} heard
 * @param {Float32Array} numbers weights, [query frame] @returns {Span[]}
 */
function spansOf(page, { group, sound }, numbers) {
  return page.state.answer.tokens.flatMap(({ text, special }, position) => {
    if (position === 0 || special) return [];
    const start = (position - 1) * group.columns; // the row of the previous token predicted this one
    const [from, to] = middleHalf(numbers.subarray(start, start + sound.frames_read));
    return { text, query: position - 1, from: from * sound.frame_seconds, to: (to + 1) * sound.frame_seconds };
  });
}

/** The first and last frame of the middle of a row's weights. @param {Float32Array} weights @returns {[number, number]} */
export function middleHalf(weights) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const passing = (/** @type {number} */ share) => {
    let sum = 0;
    const found = weights.findIndex((weight) => {
      sum += weight;
      return sum >= share * total;
    });
    return found < 0 ? weights.length - 1 : found;
  };
  return [passing(OUTSIDE), passing(1 - OUTSIDE)];
}

/** @param {ExplorePage} page @param {Span} span @param {number} whole seconds that the model reads */
function createRow(page, { text, query, from, to }, whole) {
  const word = createElement("button", "ask-about", [createElement("bdi", "", inlineText(text))], {
    onclick: () => lockQuery(page, query),
  });
  onHover(word, { read: () => setHover(page, { query, key: null }), left: () => setHover(page, null) });
  const bar = createElement("i");
  Object.assign(bar.style, { left: `${(100 * from) / whole}%`, width: `${(100 * (to - from)) / whole}%` });
  const seconds = createElement("span", "number", `${from.toFixed(2)}–${to.toFixed(2)} s`);
  const row = createElement("li", "", [word, createElement("span", "when", [bar], { ariaHidden: "true" }), seconds]);
  row.dataset.query = String(query);
  return row;
}

/** Marks the active tokens. @param {ExplorePage} page */
function mark(page) {
  const hot = activeQueries(page);
  for (const row of /** @type {HTMLElement[]} */ ([...part(page, "transcript").children]))
    row.classList.toggle("hot", hot.includes(Number(row.dataset.query)));
}
