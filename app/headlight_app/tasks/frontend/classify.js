// Classify: the labels of a text, and the effect of each token and each head on one of them.

import { drawCellTable, headWords, layerRows } from "../../explore/frontend/layers/cell_table.js";
import { selectHeadOf } from "../../explore/frontend/layers/layer_panel.js";
import { divergingColour, fillSelect, formatSigned } from "../../ui/frontend/charts/charts.js";
import { createTrack } from "../../ui/frontend/charts/track.js";
import {
  activeElement,
  createChip,
  createElement,
  formatPercent,
  inlineText,
  listenToChip,
  quotedToken,
  updateChildren,
} from "../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { remembered } from "../../ui/frontend/state/memory.js";
import { exportedClassification, shareOf } from "./export/classification.js";

/** @import { Candidate, Effects, ExplorePage, LabelEffectsAnswer, TasksData } from "./types.js" */
/** @import { Option } from "../../ui/frontend/charts/charts.js" */

const REQUEST_DELAY = 120; // milliseconds; the intermediate texts of fast typing are not requested

const memory = remembered((/** @type {ExplorePage} */ _) => ({ drawn: /** @type {Float32Array | null} */ (null) }));

/** @param {ExplorePage} page @param {string} name */
const part = (page, name) => findByTestId(page.view.elements.root, name);

export default {
  /** @param {ExplorePage} page */
  draw(page) {
    const { predictions, changed } = page.state.answer;
    const candidates = predictions[0]?.candidates ?? [];
    updateChildren(part(page, "class-labels"), ...candidates.map((label) => createLabel(page, label, changed)));
    drawPooling(page);
    const found = page.server.get("label_effects", { token: page.state.choice.target_token }, REQUEST_DELAY);
    const rests = part(page, "class-tokens");
    rests.classList.toggle("waiting", !found);
    if (!found) return;
    if (found.meta.error) return rests.replaceChildren(createElement("p", "quiet", found.meta.error));
    const effects = readEffects(found.meta, found.numbers);
    if (memory(page).drawn !== found.numbers) drawTokens(page, effects);
    memory(page).drawn = found.numbers;
    drawHeads(page, effects);
  },

  /** @param {ExplorePage} page */
  async exported(page) {
    const { predictions, changed, tokens } = page.state.answer;
    const found = page.server.get("label_effects", { token: page.state.choice.target_token });
    if (!found) throw new Error("The effects of tokens and heads are not here yet. Try again in a moment.");
    if (found.meta.error) throw new Error(found.meta.error);
    const effects = readEffects(found.meta, found.numbers);
    return exportedClassification({ candidates: predictions[0]?.candidates ?? [], changed, tokens, effects });
  },
};

/** The menu of poolings; any other than the trained one breaks what the head has learned. @param {ExplorePage} page */
function drawPooling(page) {
  const { poolings, trained_pooling: trained } = /** @type {TasksData} */ (page.state.catalogue);
  /** @type {Option[]} */
  const options = poolings.map(({ name, title }) => (name === trained ? ["", `${title} · as trained`] : [name, title]));
  const select = findByTestId(page.view.elements.root, "class-pooling", HTMLSelectElement);
  const { variant } = page.state.choice;
  fillSelect(select, options, variant.pooling, (pooling) => page.change({ variant: { ...variant, pooling } }));
}

/** @param {LabelEffectsAnswer} meta @param {Float32Array} numbers @returns {Effects} */
export function readEffects({ text, positions, layers, heads }, numbers) {
  const first = 1 + positions.length;
  return {
    label: text,
    all: numbers[0],
    tokens: new Map(positions.map((position, place) => [position, numbers[1 + place]])),
    heads: Array.from({ length: layers }, (_, layer) => [
      ...numbers.subarray(first + layer * heads, first + (layer + 1) * heads),
    ]),
  };
}

/** @param {ExplorePage} page @param {Candidate} label @param {boolean} changed */
function createLabel(page, { id, text, before, after }, changed) {
  const chosen = page.state.choice.target_token;
  const isShown = chosen === id || (chosen < 0 && page.state.answer.predictions[0].candidates[0].id === id);
  const name = createElement("button", "ask-about", inlineText(text), { testid: `class-label-${id}` });
  name.ariaPressed = String(isShown);
  name.title = `What “${text}” rests on`;
  name.onclick = () => page.change({ target_token: id });
  const track = createTrack(after, changed ? before : undefined);
  return createElement("li", "candidate", [name, track, createElement("span", "number", formatPercent(after))], {
    title: changed ? `before ${formatPercent(before)}` : "",
  });
}

/** @param {ExplorePage} page @param {Effects} effects */
function drawTokens(page, effects) {
  const { label, all, tokens: without } = effects;
  part(page, "class-title").textContent = `What “${label}” rests on`;
  const most = Math.max(1, ...[...without.values()].map((number) => Math.abs(all - number)));
  const chips = [...without].map(([position, number], index) => {
    const chip = createChip(page.state.answer.tokens[position], index === 0);
    chip.style.background = divergingColour((all - number) / most);
    chip.append(createElement("small", "", formatSigned(Number((all - number).toFixed(1)))));
    const read = () => say(page, effects, [quotedToken(page.state.answer.tokens[position])], number);
    listenToChip(chip, { read, left: () => rest(page, effects) });
    return chip;
  });
  updateChildren(part(page, "class-tokens"), ...chips);
  rest(page, effects);
}

/** @param {ExplorePage} page @param {Effects} effects */
function drawHeads(page, effects) {
  const { all, heads } = effects;
  const table = findByTestId(page.view.elements.root, "class-heads", HTMLTableElement);
  const lost = heads.map((line) => line.map((without) => all - without));
  const columns = (heads[0] ?? []).map((_, head) => head);
  drawCellTable(table, columns, layerRows(lost, "class-head", headWords(page)), {
    most: Math.max(0.5, ...lost.flat().map(Math.abs)),
    read: (cell) => {
      if (cell) say(page, effects, [cell.title.toLowerCase()], heads[cell.layer][cell.head]);
      else if (!table.contains(activeElement(table))) rest(page, effects);
    },
    pick: (cell) => selectHeadOf(page, cell.layer, cell.head),
  });
}

/** @param {ExplorePage} page @param {Effects} effects @param {(string | Node)[]} what @param {number} without */
function say(page, { label, all }, what, without) {
  const words = ` “${label}” has ${formatPercent(shareOf(without))} instead of ${formatPercent(shareOf(all))}.`;
  part(page, "class-reading").replaceChildren("Without ", ...what, words);
}

/** @param {ExplorePage} page @param {Effects} effects */
function rest(page, { label }) {
  const words = `By how much the log odds of “${label}” fall without each: orange supports it, blue opposes it.`;
  part(page, "class-reading").replaceChildren(createElement("span", "quiet", words));
}
