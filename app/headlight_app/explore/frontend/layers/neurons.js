// The neurons of a feed-forward: contributions to the answer, and for one neuron its promoted tokens and activations.

import { formatNumber, formatSigned } from "../../../ui/frontend/charts/charts.js";
import { saveBlob } from "../../../ui/frontend/dom/clipboard.js";
import { createElement, createHeading, quotedToken, updateChildren } from "../../../ui/frontend/dom/dom.js";
import { failureText, fetchFile } from "../../../ui/frontend/server.js";
import { remembered } from "../../../ui/frontend/state/memory.js";
import { hasEdits, toggleEdits } from "../edits/edit_actions.js";
import { editText } from "../edits/edit_text.js";
import { answerPosition, createLitToken, layerElement } from "./layer_panel.js";
import { createPromotedCell } from "./promoted_tokens.js";
import { drawRankedBars } from "./ranked_bars.js";

/** @import { ExplorePage, ExportNeuronsRequest, NeuronAnswer, NeuronsAnswer, RankedEntry } from "../types.js" */
/** @import { Details, Found } from "../../../ui/frontend/types.js" */

const COLUMNS = 3; // numbers of each neuron: its index, its activation, its contribution
const NAMED = 3; // tokens named as the strongest

/** Whether to scroll to the neurons that were just opened, once they have loaded. */
const memory = remembered(() => ({ opened: false }));

/**
 * The layer whose neurons are open, and the chosen neuron; null if none are open.
 * @param {ExplorePage} page @returns {{ layer: number, neuron: number | null } | null}
 */
export function chosenNeuron({ state: { choice } }) {
  if (!choice.neuron) return null;
  const [layer, neuron] = choice.neuron.split(".");
  return { layer: Number(layer), neuron: neuron === undefined ? null : Number(neuron) };
}

/** @param {ExplorePage} page @param {number} layer */
export function openNeurons(page, layer) {
  memory(page).opened = true;
  page.change({ neuron: String(layer) });
}

/** @param {ExplorePage} page */
export function drawNeurons(page) {
  const section = layerElement(page, "neurons");
  const chosen = chosenNeuron(page);
  section.hidden = !chosen;
  if (!chosen) return;
  const asked = { layer: chosen.layer, query: answerPosition(page), token: page.state.choice.target_token };
  layerElement(page, "neurons-title").textContent = `Neurons of layer ${chosen.layer}’s feed-forward`;
  layerElement(page, "neurons-close").onclick = () => page.change({ neuron: "" });
  for (const format of ["csv", "json"])
    layerElement(page, `neurons-${format}`).onclick = () => saveNeurons(page, { ...asked, format });
  const found = page.server.get("neurons", asked);
  if (!found) return;
  layerElement(page, "neurons-pair").hidden = Boolean(found.meta.error);
  if (found.meta.error) layerElement(page, "neurons-total").textContent = found.meta.error;
  else drawFound(page, found, chosen.neuron ?? found.numbers[0], asked);
  if (memory(page).opened) section.scrollIntoView({ block: "nearest" });
  memory(page).opened = false;
}

/** @param {ExplorePage} page @param {Found<NeuronsAnswer>} found @param {number} neuron @param {object} asked */
function drawFound(page, found, neuron, asked) {
  const { meta } = found;
  drawTotal(page, meta);
  drawRankedBars(
    layerElement(page, "neurons-ranked"),
    neuronEntries(found, neuron, (picked) => chooseNeuron(page, meta.layer, picked)),
  );
  const detail = page.server.get("neuron", { ...asked, neuron });
  if (!detail) return;
  layerElement(page, "neuron").hidden = Boolean(detail.meta.error);
  if (detail.meta.error) layerElement(page, "neurons-total").textContent = detail.meta.error;
  else drawNeuron(page, meta, detail);
}

/** @param {ExplorePage} page @param {number} layer @param {number} neuron */
function chooseNeuron(page, layer, neuron) {
  page.change({ neuron: `${layer}.${neuron}` });
}

/** @param {ExplorePage} page @param {NeuronsAnswer} meta */
function drawTotal(page, { layer, text, count, sum, bias, edit, total }) {
  const more = [bias && `its bias ${formatSigned(bias)}`, edit && `edits ${formatSigned(edit)}`].filter(Boolean);
  layerElement(page, "neurons-total").replaceChildren(
    `The feed-forward of layer ${layer} adds ${formatSigned(total)} to the logit of `,
    quotedToken({ text }),
    `: ${[`its ${count.toLocaleString("en")} neurons ${formatSigned(sum)}`, ...more].join(", ")}. Each neuron adds its activation at this token times its weight towards the answer.`,
  );
}

/**
 * The largest neurons, the contributions of all others and the bias, and the total.
 * @param {Found<NeuronsAnswer>} found @param {number} chosen @param {(neuron: number) => void} choose
 * @returns {RankedEntry[]}
 */
export function neuronEntries({ meta, numbers }, chosen, choose) {
  const rows = Array.from({ length: numbers.length / COLUMNS }, (_, row) =>
    numbers.subarray(row * COLUMNS, (row + 1) * COLUMNS),
  );
  /** @type {RankedEntry[]} */
  const entries = rows.map(([neuron, , value]) => ({
    title: `Neuron ${neuron}`,
    value,
    chosen: neuron === chosen,
    pick: () => choose(neuron),
  }));
  const listed = rows.reduce((sum, [, , value]) => sum + value, 0);
  if (meta.count > rows.length)
    entries.push({ title: `All ${(meta.count - rows.length).toLocaleString("en")} others`, value: meta.sum - listed });
  if (meta.bias) entries.push({ title: "Bias", value: meta.bias });
  if (meta.edit) entries.push({ title: "Edits", value: meta.edit });
  return [...entries, { title: "Together: the feed-forward", value: meta.total, total: true }];
}

/** @param {ExplorePage} page @param {NeuronsAnswer} answer @param {Found<NeuronAnswer>} found */
function drawNeuron(page, { path, text, layer }, { meta, numbers }) {
  const { neuron, activation, answer_weight, contribution, promoted, suppressed } = meta;
  layerElement(page, "neuron-title").textContent = `Neuron ${neuron}`;
  drawSwitch(page, editText(path, ["", neuron], "set:0"), () => chooseNeuron(page, layer, neuron));
  layerElement(page, "neuron-sum").replaceChildren(
    `Activation ${formatNumber(activation, 3)} × weight towards `,
    quotedToken({ text }),
    ` ${formatNumber(answer_weight, 3)} = `,
    createElement("b", "", formatSigned(contribution)),
  );
  const turned = activation < 0 ? ", reversed here by its negative activation" : "";
  layerElement(page, "neuron-heading").textContent = `What its output vector writes${turned}`;
  const rows = [
    { name: "Promotes", tokens: promoted },
    { name: "Suppresses", tokens: suppressed },
  ].map(({ name, tokens }) => createElement("tr", "", [createHeading(name, "row"), createPromotedCell(tokens)]));
  updateChildren(layerElement(page, "neuron-promoted"), ...rows);
  drawTokens(page, numbers);
}

/** An edit that keeps the neuron at 0. @param {ExplorePage} page @param {string} edit @param {() => void} choose */
function drawSwitch(page, edit, choose) {
  const button = layerElement(page, "neuron-switch", HTMLButtonElement);
  const off = hasEdits(page, [edit]);
  button.textContent = off ? "Switch on" : "Switch off";
  button.ariaPressed = String(off);
  button.onclick = () => {
    choose(); // an unchosen neuron that is off would no longer be the largest, and another would be shown
    toggleEdits(page, [edit]);
  };
}

/** @param {ExplorePage} page @param {Float32Array} activations at each token */
function drawTokens(page, activations) {
  const { tokens } = page.state.answer;
  const reading = layerElement(page, "neuron-reading");
  const most = activations.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  const spans = tokens.map((token, position) => {
    const words = formatNumber(activations[position], 3);
    const span = createLitToken(token, Math.abs(activations[position]) / (most || 1), words, {
      read: () => reading.replaceChildren(quotedToken(token), `: ${words}`),
      left: () => describeStrongest(page, activations),
    });
    span.classList.toggle("minus", activations[position] < 0);
    return span;
  });
  layerElement(page, "neuron-tokens").replaceChildren(...spans);
  describeStrongest(page, activations);
}

/** @param {ExplorePage} page @param {Float32Array} activations */
function describeStrongest(page, activations) {
  const { tokens } = page.state.answer;
  const order = strongestTokens(activations);
  const words = order.flatMap((position, place) => [
    place ? ", " : "Strongest at ",
    quotedToken(tokens[position]),
    ` ${formatNumber(activations[position], 3)}`,
  ]);
  const found = words.length ? [...words, ". Orange is positive, blue negative."] : ["It is 0 at every token."];
  layerElement(page, "neuron-reading").replaceChildren(...found);
}

/** The tokens at which it is furthest from 0. @param {Float32Array} activations */
export function strongestTokens(activations) {
  return [...activations.keys()]
    .filter((position) => activations[position] !== 0)
    .sort((a, b) => Math.abs(activations[b]) - Math.abs(activations[a]))
    .slice(0, NAMED);
}

/** @param {ExplorePage} page @param {Details<ExportNeuronsRequest>} asked */
async function saveNeurons(page, asked) {
  try {
    const file = await fetchFile(page.server.api, "export_neurons", { question: page.state.answer.question, ...asked });
    saveBlob(file.name, file);
  } catch (error) {
    layerElement(page, "neurons-total").textContent = failureText(error);
  }
}
