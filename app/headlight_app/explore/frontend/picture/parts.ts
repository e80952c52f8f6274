// The parts of the picture from text to prediction: which ones exist, what each opens, and which one is open.

import { layerRuns } from "../../../ui/frontend/model_diagram/layer_runs.ts";
import type { AttentionGroup, Choice } from "../types.ts";

type PartKind = "input" | "heads" | "network" | "layers" | "prediction";
/** For a run of closed layers, `layer` is the layer that it opens. */
export type Part = { kind: PartKind; stack: string; layer: number; attention: string };
/** A layer, or a run of closed layers. */
export type Block = { first: number; last: number; parts: Part[] };
/** A stack: its input, its layers, and the prediction if it is the last stack. */
export type Row = { stack: string; input: Part; blocks: Block[]; prediction: Part | null };

/** A row for each stack, in the order in which they run. @param open the open layer */
export function pictureRows(groups: AttentionGroup[], hasNetwork: boolean, open: number): Row[] {
  const stacks = [...new Set(groups.map(({ stack }) => stack))].sort((one, other) => rank(one) - rank(other));
  return stacks.map((stack, place) => {
    const own = groups.filter((group) => group.stack === stack);
    const part = (kind: PartKind, layer: number = 0, attention: string = own[0].name): Part => ({
      kind,
      stack,
      layer,
      attention,
    });
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

/** Sorts an encoder before its decoder, whatever the order of the attentions. */
function rank(stack: string) {
  return stack === "encoder" ? 0 : 1;
}

/**
 * The choice made by a click on a part; null if there is nothing more to show. `answers`: whether the part's stack
 * makes the prediction, `predicts`: whether there is a prediction.
 */
export function partChoice(
  { kind, layer, attention }: Part,
  { answers, predicts }: { answers: boolean; predicts: boolean },
): Partial<Choice> | null {
  if (kind === "input") return { tab: "tokens", attention };
  if (kind === "heads" || kind === "layers") return { tab: "heads", attention, layer, heads: [] };
  if (!answers || !predicts) return null;
  if (kind === "prediction") return { tab: "layers", analysis: "logit_lens", neuron: "" };
  return { tab: "layers", analysis: "logit_attribution", attention, layer, neuron: String(layer) };
}

/** Whether a part is open below the picture. @param attention that is open */
export function isOpen(
  { kind, layer, attention: own, stack }: Part,
  { tab, layer: chosen, analysis, neuron }: Pick<Choice, "tab" | "layer" | "analysis" | "neuron">,
  attention: string,
) {
  const network = tab === "layers" && analysis === "logit_attribution" && neuron !== "";
  if (kind === "input") return tab === "tokens" && attention.startsWith(`${stack}.`);
  if (kind === "heads") return (tab === "heads" || tab === "walkthrough") && own === attention && layer === chosen;
  if (kind === "network") return network && neuron.split(".")[0] === String(layer);
  return kind === "prediction" && tab === "layers" && !network;
}

/**
 * The layout of a layer's heads in a small box, as large as possible; all sizes are in pixels.
 * @param gap between them
 */
export function miniatures(heads: number, width: number, height: number, gap: number = 2) {
  const sizes = Array.from({ length: heads }, (_, index) => {
    const columns = index + 1;
    const rows = Math.ceil(heads / columns);
    const size = Math.floor(Math.min((width + gap) / columns - gap, (height + gap) / rows - gap));
    return { columns, rows, size: Math.max(size, 1), gap };
  });
  return sizes.reduce((best, one) => (one.size > best.size ? one : best));
}

/** The head whose miniature is at a point of the box, or null if there is none. */
export function headAt(
  { columns, size, gap }: { columns: number; size: number; gap: number },
  heads: number,
  x: number,
  y: number,
) {
  const [column, row] = [Math.floor(x / (size + gap)), Math.floor(y / (size + gap))];
  const head = row * columns + column;
  return x >= 0 && y >= 0 && column < columns && head < heads ? head : null;
}
