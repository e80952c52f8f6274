// The beams of a search as a tree: the beams kept after each step, and their parents.

import { beginSheet, lookOf } from "../../ui/frontend/charts/figure_text.js";
import { figureSheet } from "../../ui/frontend/charts/svg.js";
import { createElement, updateChildren } from "../../ui/frontend/dom/dom.js";
import { currentStyle } from "../../ui/frontend/heads/measurements.js";
import { addTree } from "./beam_tree.js";

/** @import { BeamSearchAnswer, ExplorePage } from "./types.js" */

/** @param {ExplorePage} page */
export function showsBeams(page) {
  return page.state.choice.beam_width > 1 || page.state.answer.changed;
}

/** The settings of a search besides the question. @param {ExplorePage} page */
export function beamsQuery(page) {
  return { beam_width: page.state.choice.beam_width };
}

/** @param {ExplorePage} page @param {HTMLElement} place */
export function drawBeams(page, place) {
  const { beam_width } = page.state.choice;
  const { changed } = page.state.answer;
  place.hidden = !showsBeams(page);
  if (place.hidden) return;
  const found = page.server.get("beam_search", beamsQuery(page), 150);
  place.classList.toggle("waiting", !found);
  if (!found && !place.childElementCount) place.append(createElement("p", "quiet", "Searching …"));
  if (!found) return;
  if (found.meta.error) return place.replaceChildren(createElement("p", "quiet", found.meta.error));
  const title = changed ? "What the model writes with these changes" : "Beams";
  updateChildren(
    place,
    createElement("h3", "", title),
    ...(beam_width > 1 ? [explanation(found.meta, beam_width), createTree(page, found.meta)] : []),
    createRanking(page, found.meta),
  );
}

/** @param {BeamSearchAnswer} meta @param {number} width */
function explanation({ length_penalty: penalty }, width) {
  return createElement(
    "p",
    "explain",
    `After each token the ${width} likeliest beginnings are kept. The score is the log probability of all tokens over ((5 + length) / 6) to the power of ${penalty}, so that a longer text may win.`,
  );
}

/** @param {ExplorePage} page @param {BeamSearchAnswer} meta */
function createTree(page, { steps }) {
  const label = "The tree of beams; the list below has the final ones, the best first.";
  const figure = beginSheet(0, label, lookOf(currentStyle(page)));
  addTree(figure, steps);
  const sheet = figureSheet(figure);
  sheet.setAttribute("width", String(figure.width));
  return createElement("div", "tree", [sheet], { tabIndex: 0 });
}

/** The final beams: a click makes one the target. @param {ExplorePage} page @param {BeamSearchAnswer} meta */
function createRanking(page, { steps, texts }) {
  return createElement("ol", "ranking", [
    ...(steps.at(-1) ?? []).map((beam, rank) => {
      const text = createElement("button", "beam-text", texts[rank] || "(nothing)", { testid: `beam-${rank}` });
      text.dir = "auto";
      text.ariaPressed = String(texts[rank] === page.state.answer.question.text);
      text.title = "Use it as the target";
      text.onclick = () => take(page, texts[rank]);
      const ending = beam.finished ? "" : ", not ended";
      const numbers = `score ${beam.score.toFixed(2)} · log probability ${beam.log_probability.toFixed(2)}${ending}`;
      return createElement("li", "", [text, createElement("span", "quiet", numbers.replace(/-/g, "−"))]);
    }),
  ]);
}

/** @param {ExplorePage} page @param {string} text */
function take(page, text) {
  page.state.writesTarget = false;
  page.change({ text, query: -1, pinned: [], masked_positions: [], target_token: -1 });
}
