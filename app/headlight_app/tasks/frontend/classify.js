// Classify: the labels of a text, and the effect of each token and each head on one of them.

import { drawCellTable, headWords, layerRows } from "../../explore/frontend/layers/cell_table.js";
import { selectHeadOf } from "../../explore/frontend/layers/layer_panel.js";
import { answerNumber, createAnswerTrack } from "../../ui/frontend/charts/answer_numbers.js";
import { divergingColour, fillSelect } from "../../ui/frontend/charts/charts.js";
import {
  activeElement,
  createChip,
  createElement,
  inlineText,
  listenToChip,
  quotedToken,
  updateChildren,
} from "../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { lessonOf } from "../../ui/frontend/heads/predictions.js";
import { remembered } from "../../ui/frontend/state/memory.js";
import { exportedClassification, fallWords, lostText, mostLost, numberOf } from "./export/classification.js";

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
    const [prediction] = predictions;
    const candidates = prediction?.candidates ?? [];
    const shown = candidates.flatMap(({ before, after }) => (changed ? [before, after] : [after]));
    const lesson = prediction ? lessonOf(prediction) : [];
    const rows = candidates.map((label) => createLabel(page, label, shown));
    if (lesson.length) rows.push(createElement("li", "meaning", lesson));
    updateChildren(part(page, "class-labels"), ...rows);
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
    const [prediction] = predictions;
    const found = page.server.get("label_effects", { token: page.state.choice.target_token });
    if (!found) throw new Error("The effects of tokens and heads are not here yet. Try again in a moment.");
    if (found.meta.error) throw new Error(found.meta.error);
    const effects = readEffects(found.meta, found.numbers);
    return exportedClassification({ candidates: prediction?.candidates ?? [], changed, tokens, effects });
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
export function readEffects({ text, positions, layers, heads, problem_type }, numbers) {
  const first = 1 + positions.length;
  return {
    label: text,
    problem_type,
    all: numbers[0],
    tokens: new Map(positions.map((position, place) => [position, numbers[1 + place]])),
    heads: Array.from({ length: layers }, (_, layer) => [
      ...numbers.subarray(first + layer * heads, first + (layer + 1) * heads),
    ]),
  };
}

/** @param {ExplorePage} page @param {Candidate} label @param {number[]} shown the numbers of all labels */
function createLabel(page, { id, text, before, after }, shown) {
  const chosen = page.state.choice.target_token;
  const { predictions, changed } = page.state.answer;
  const [prediction] = predictions;
  const isShown = chosen === id || (chosen < 0 && prediction.candidates[0].id === id);
  const name = createElement("button", "ask-about", inlineText(text), { testid: `class-label-${id}` });
  name.ariaPressed = String(isShown);
  name.title = `What “${text}” rests on`;
  name.onclick = () => page.change({ target_token: id });
  const track = createAnswerTrack(prediction, shown, after, changed ? before : undefined);
  const number = createElement("span", "number", answerNumber(prediction, after));
  return createElement("li", "candidate", [name, track, number], {
    title: changed ? `before ${answerNumber(prediction, before)}` : "",
  });
}

/** @param {ExplorePage} page @param {Effects} effects */
function drawTokens(page, effects) {
  const { label, all, tokens: without } = effects;
  part(page, "class-title").textContent = `What “${label}” rests on`;
  const most = mostLost(effects, [...without.values()], 1);
  const chips = [...without].map(([position, number], index) => {
    const chip = createChip(page.state.answer.tokens[position], index === 0);
    chip.style.background = divergingColour((all - number) / most);
    chip.append(createElement("small", "", lostText(effects, all - number)));
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
    most: mostLost(effects, heads.flat(), 0.5),
    read: (cell) => {
      if (cell) say(page, effects, [cell.title.toLowerCase()], heads[cell.layer][cell.head]);
      else if (!table.contains(activeElement(table))) rest(page, effects);
    },
    pick: (cell) => selectHeadOf(page, cell.layer, cell.head),
  });
}

/** @param {ExplorePage} page @param {Effects} effects @param {(string | Node)[]} what @param {number} without */
function say(page, effects, what, without) {
  const [now, before] = [without, effects.all].map((number) => answerNumber(effects, numberOf(effects, number)));
  const words = ` “${effects.label}” has ${now} instead of ${before}.`;
  part(page, "class-reading").replaceChildren("Without ", ...what, words);
}

/** @param {ExplorePage} page @param {Effects} effects */
function rest(page, effects) {
  const words = `By how much ${fallWords(effects)} without each: orange supports it, blue opposes it.`;
  part(page, "class-reading").replaceChildren(createElement("span", "quiet", words));
}
