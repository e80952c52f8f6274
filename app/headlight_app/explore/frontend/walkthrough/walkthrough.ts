// The memory of the tab "Step by step": its elements, the displayed steps, and the hovered number.

import type { Meaning } from "../../../ui/frontend/charts/answer_numbers.ts";
import { elementsOf, find, findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { keyTokens } from "../../../ui/frontend/state/token_selection.ts";
import type { Found } from "../../../ui/frontend/types.ts";
import type { CodeExcerptAnswer, ExplorePage, StepValueAnswer, StepWith, WalkthroughAnswer } from "../types.ts";

export type StepValue = StepValueAnswer & { numbers: Float32Array };
export type Step = StepWith<StepValue>;
type Walkthrough = Omit<WalkthroughAnswer, "steps"> & {
  steps: Step[];
  code: Record<string, CodeExcerptAnswer[]> | undefined;
};

/** For each page. */
export const walkthroughMemory = remembered((page: ExplorePage) => ({
  elements: findElements(page.view.panels.walkthrough),
  shown: null as Walkthrough | null,
  /** The key previewed by the pointer. */
  previewedKey: null as number | null,
  /** The hovered number; the same index is marked in all rows along its axis. */
  pointer: null as { axis: string; index: number } | null,
}));

/** The displayed walkthrough. */
export function shownWalkthrough(page: ExplorePage) {
  const { shown } = walkthroughMemory(page);
  if (!shown) throw new Error("There is no walkthrough yet.");
  return shown;
}

export function openStepIndex(page: ExplorePage) {
  return Math.max(
    shownWalkthrough(page).steps.findIndex((step) => step.name === page.state.choice.step),
    0,
  );
}

export function openStep(page: ExplorePage) {
  return shownWalkthrough(page).steps[openStepIndex(page)];
}

/**
 * An axis with named places: their tokens, the chosen place, and a function that chooses another. Null for channels.
 */
export function namedAxis(page: ExplorePage, axis: string | null) {
  const { key, answer, answers } = shownWalkthrough(page);
  if (axis === "key")
    return { tokens: keyTokens(page), chosen: key, choose: (index: number) => page.change({ key: index }) };
  if (axis !== "answer") return null;
  const choose = (index: number) => page.change({ target_token: answers[index].id });
  return { tokens: answers, chosen: answer, choose };
}

/**
 * The numbers of the shown answers, the result of the last step: probabilities, or logits if the answers are scores.
 */
export function answersOf(steps: Step[]) {
  const last = steps[steps.length - 1];
  const isProbability = ["probabilities", "sigmoid"].includes(last.name);
  return {
    numbers: last.values.at(-1)?.numbers,
    meaning: { problem_type: isProbability ? "single-label" : "regression" } as Meaning,
    unit: isProbability ? "probabilities of the answers" : "scores of the answers",
  };
}

/** Opens the next step, or the previous one. */
export function moveStep(page: ExplorePage, by: number) {
  const { steps } = shownWalkthrough(page);
  const open = openStepIndex(page);
  const next = Math.min(Math.max(open + by, 0), steps.length - 1);
  if (next !== open) page.change({ step: steps[next].name });
}

/** Each step with its own numbers, cut out of the answer's single array. */
export function splitValues({ meta, numbers }: Pick<Found<WalkthroughAnswer>, "meta" | "numbers">): Step[] {
  let end = 0;
  return meta.steps.map((step) => ({
    ...step,
    values: step.values.map((value) => {
      end += value.count;
      return { ...value, numbers: numbers.subarray(end - value.count, end) };
    }),
  }));
}

function findElements(panel: HTMLElement) {
  const { named, select, button } = elementsOf(panel);
  return {
    attentions: find(panel, '[data-part="attentions"]'),
    attention: select("steps-attention"),
    layer: select("steps-layer"),
    head: select("steps-head"),
    query: select("steps-query"),
    key: select("steps-key"),
    answer: select("steps-answer"),
    ofHead: panel.querySelectorAll('[data-part="of-head"]') as NodeListOf<HTMLElement>,
    ofPrediction: panel.querySelectorAll('[data-part="of-prediction"]') as NodeListOf<HTMLElement>,
    message: named("steps-silent"),
    walk: named("steps-walk"),
    list: named("stairs"),
    step: named("stair"),
    title: named("stair-title"),
    back: button("step-back"),
    next: button("step-next"),
    meaning: named("stair-meaning"),
    formula: named("stair-formula"),
    values: named("stair-values"),
    readout: named("stair-reading"),
    shapes: named("stair-shapes"),
    code: named("stair-code"),
    numbers: named("stair-numbers"),
    outcome: findByTestId(panel, "steps-outcome", HTMLCanvasElement),
    outcomeTitle: named("steps-outcome-title"),
  };
}
