// The links of a model diagram's parts: the choices that entering a part makes.

import type { DiagramChoice, DiagramPlace, ModelDiagramAnswer } from "./types.ts";

type Entrance = { words: string; choice: DiagramChoice | null }; // description and choices; null: the page Positions

/** The step in the tab "Step by step" for each part after the last layer. */
const PREDICTION_STEPS = new Map([
  ["final_norm", "final-norm"],
  ["pooling", "pool"],
  ["transform", "transform"],
]);

/** Null if there is nothing more to see. */
export function entranceChoice(
  answer: { predictions: readonly unknown[] },
  { stacks }: ModelDiagramAnswer,
  { kind, stack, layer }: DiagramPlace,
): Entrance | null {
  const own = stacks.find(({ name }) => name === stack);
  const answers = stacks[stacks.length - 1].name === stack; // the tab "Layers" shows only the stack that predicts
  const attention = `${stack}.self`;
  if (!own?.layers) return null;
  if (kind === "layer") return { words: `open layer ${layer}`, choice: { layer, heads: [] } };
  if (kind === "self" || kind === "cross") {
    const choice = { tab: "heads", attention: `${stack}.${kind}`, layer: own.layer, heads: [] };
    return { words: `the heads of layer ${own.layer}`, choice };
  }
  if (kind === "positions") return { words: "how positions enter, on the page Positions", choice: null };
  if (kind === "embedding")
    return {
      words: "the numbers of each token, step by step",
      choice: { tab: "walkthrough", attention, layer: 0, step: "input" },
    };
  if (kind === "norm")
    return {
      words: "what a head reads, step by step",
      choice: { tab: "walkthrough", attention, layer: own.layer, step: "input" },
    };
  if (!answers) return null;
  const step = PREDICTION_STEPS.get(kind);
  if (step && answer.predictions.length)
    return { words: "the last steps, with their numbers", choice: { tab: "walkthrough", attention, step } };
  if (kind === "feed_forward" && answer.predictions.length)
    return { words: "what each layer adds to the answer", choice: { tab: "layers", analysis: "logit_attribution" } };
  if (kind.startsWith("add_") || kind === "output")
    return { words: "what each layer would answer", choice: { tab: "layers", analysis: "logit_lens" } };
  return null;
}
