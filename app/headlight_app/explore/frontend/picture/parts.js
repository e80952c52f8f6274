// The parts of the picture from text to prediction: which ones exist, what each opens, and which one is open.

import { layerRuns } from "../../../ui/frontend/model_diagram/layer_runs.js";

/** @import { AttentionGroup, Choice } from "../types.js" */

/** @typedef {"input" | "heads" | "network" | "layers" | "prediction"} PartKind */
/**
 * For a run of closed layers, `layer` is the layer that it opens. @typedef {{ kind: PartKind, stack: string, layer:
 * number, attention: string }} Part
 */
/** A layer, or a run of closed layers. @typedef {{ first: number, last: number, parts: Part[] }} Block */
/**
 * A stack: its input, its layers, and the prediction if it is the last stack. @typedef {{ stack: string, input: Part,
 * blocks: Block[], prediction: Part | null }} Row
 */

/**
 * A row for each stack, in the order in which they run.
 * @param {AttentionGroup[]} groups @param {boolean} hasNetwork @param {number} open the open layer
 * @returns {Row[]}
 */
export function pictureRows(groups, hasNetwork, open) {
  const stacks = [...new Set(groups.map(({ stack }) => stack))].sort((one, other) => rank(one) - rank(other));
  return stacks.map((stack, place) => {
    const own = groups.filter((group) => group.stack === stack);
    /** @param {PartKind} kind @param {number} [layer] @param {string} [attention] @returns {Part} */
    const part = (kind, layer = 0, attention = own[0].name) => ({ kind, stack, layer, attention });
    const { layers } = own[0];
    const shown = Math.min(Math.max(open, 0), layers - 1);
    const blocks = layerRuns(layers, shown).map(([first, last]) => {
      if (last > first) return { first, last, parts: [part("layers", first > shown ? first : last)] };
      const heads = own.map(({ name }) => part("heads", first, name));
      return { first, last, parts: hasNetwork ? [...heads, part("network", first)] : heads };
    });
    return { stack, input: part("input"), blocks, prediction: place === stacks.length - 1 ? part("prediction") : null };
  });
}

/** Sorts an encoder before its decoder, whatever the order of the attentions. @param {string} stack */
function rank(stack) {
  return stack === "encoder" ? 0 : 1;
}

/**
 * The choice made by a click on a part; null if there is nothing more to show.
 * @param {Part} part @param {{ answers: boolean, predicts: boolean }} model whether the part's stack makes the
 * prediction, and whether there is a prediction
 * @returns {Partial<Choice> | null}
 */
export function partChoice({ kind, layer, attention }, { answers, predicts }) {
  if (kind === "input") return { tab: "tokens", attention };
  if (kind === "heads" || kind === "layers") return { tab: "heads", attention, layer, heads: [] };
  if (!answers || !predicts) return null;
  if (kind === "prediction") return { tab: "layers", analysis: "logit_lens", neuron: "" };
  return { tab: "layers", analysis: "logit_attribution", attention, layer, neuron: String(layer) };
}

/**
 * Whether a part is open below the picture.
 * @param {Part} part @param {Pick<Choice, "tab" | "layer" | "analysis" | "neuron">} choice @param {string} attention
 * that is open
 */
export function isOpen({ kind, layer, attention: own, stack }, { tab, layer: chosen, analysis, neuron }, attention) {
  const network = tab === "layers" && analysis === "logit_attribution" && neuron !== "";
  if (kind === "input") return tab === "tokens" && attention.startsWith(`${stack}.`);
  if (kind === "heads") return (tab === "heads" || tab === "walkthrough") && own === attention && layer === chosen;
  if (kind === "network") return network && neuron.split(".")[0] === String(layer);
  return kind === "prediction" && tab === "layers" && !network;
}

/**
 * The layout of a layer's heads in a small box, as large as possible.
 * @param {number} heads @param {number} width @param {number} height in pixels @param {number} gap between them
 */
export function miniatures(heads, width, height, gap = 2) {
  const sizes = Array.from({ length: heads }, (_, index) => {
    const columns = index + 1;
    const rows = Math.ceil(heads / columns);
    const size = Math.floor(Math.min((width + gap) / columns - gap, (height + gap) / rows - gap));
    return { columns, rows, size: Math.max(size, 1), gap };
  });
  return sizes.reduce((best, one) => (one.size > best.size ? one : best));
}

/**
 * The head whose miniature is at a point of the box, or null if there is none.
 * @param {{ columns: number, size: number, gap: number }} layout @param {number} heads @param {number} x @param {number} y
 */
export function headAt({ columns, size, gap }, heads, x, y) {
  const [column, row] = [Math.floor(x / (size + gap)), Math.floor(y / (size + gap))];
  const head = row * columns + column;
  return x >= 0 && y >= 0 && column < columns && head < heads ? head : null;
}
