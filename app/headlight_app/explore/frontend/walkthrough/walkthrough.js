// The memory of the tab "Step by step": its elements, the displayed steps, and the hovered number.

import { elementsOf, find, findByTestId } from "../../../ui/frontend/dom/elements.js";
import { remembered } from "../../../ui/frontend/dom/memory.js";
import { keyTokens } from "../../../ui/frontend/state/token_selection.js";

/** @import { CodeExcerptAnswer, ExplorePage, StepValueAnswer, StepWith, WalkthroughAnswer } from "../types.js" */
/** @import { Meaning } from "../../../ui/frontend/charts/answer_numbers.js" */
/** @import { Found } from "../../../ui/frontend/types.js" */

/** @typedef {StepValueAnswer & { numbers: Float32Array }} StepValue */
/** @typedef {StepWith<StepValue>} Step */
/** @typedef {Omit<WalkthroughAnswer, "steps"> & { steps: Step[], code: Record<string, CodeExcerptAnswer[]> | undefined }} Walkthrough */

/** For each page. */
export const walkthroughMemory = remembered((/** @type {ExplorePage} */ page) => ({
  elements: findElements(page.view.panels.walkthrough),
  shown: /** @type {Walkthrough | null} */ (null),
  /** The key previewed by the pointer. */
  previewedKey: /** @type {number | null} */ (null),
  /** The hovered number; the same index is marked in all rows along its axis. */
  pointer: /** @type {{ axis: string, index: number } | null} */ (null),
}));

/** The displayed walkthrough. @param {ExplorePage} page */
export function shownWalkthrough(page) {
  const { shown } = walkthroughMemory(page);
  if (!shown) throw new Error("There is no walkthrough yet.");
  return shown;
}

/** @param {ExplorePage} page */
export function openStepIndex(page) {
  return Math.max(
    shownWalkthrough(page).steps.findIndex((step) => step.name === page.state.choice.step),
    0,
  );
}

/** @param {ExplorePage} page */
export function openStep(page) {
  return shownWalkthrough(page).steps[openStepIndex(page)];
}

/**
 * An axis with named places: their tokens, the chosen place, and a function that chooses another. Null for channels.
 * @param {ExplorePage} page @param {string | null} axis
 */
export function namedAxis(page, axis) {
  const { key, answer, answers } = shownWalkthrough(page);
  if (axis === "key")
    return {
      tokens: keyTokens(page),
      chosen: key,
      choose: (/** @type {number} */ index) => page.change({ key: index }),
    };
  if (axis !== "answer") return null;
  const choose = (/** @type {number} */ index) => page.change({ target_token: answers[index].id });
  return { tokens: answers, chosen: answer, choose };
}

/**
 * The numbers of the shown answers, the result of the last step: probabilities, or logits if the answers are scores.
 * @param {Step[]} steps
 */
export function answersOf(steps) {
  const last = steps[steps.length - 1];
  const isProbability = ["probabilities", "sigmoid"].includes(last.name);
  return {
    numbers: last.values.at(-1)?.numbers,
    meaning: /** @type {Meaning} */ ({ problem_type: isProbability ? "single-label" : "regression" }),
    unit: isProbability ? "probabilities of the answers" : "scores of the answers",
  };
}

/** Opens the next step, or the previous one. @param {ExplorePage} page @param {number} by */
export function moveStep(page, by) {
  const { steps } = shownWalkthrough(page);
  const open = openStepIndex(page);
  const next = Math.min(Math.max(open + by, 0), steps.length - 1);
  if (next !== open) page.change({ step: steps[next].name });
}

/**
 * Each step with its own numbers, cut out of the answer's single array.
 * @param {Pick<Found<WalkthroughAnswer>, "meta" | "numbers">} found @returns {Step[]}
 */
export function splitValues({ meta, numbers }) {
  let end = 0;
  return meta.steps.map((step) => ({
    ...step,
    values: step.values.map((value) => {
      end += value.count;
      return { ...value, numbers: numbers.subarray(end - value.count, end) };
    }),
  }));
}

/** @param {HTMLElement} panel */
function findElements(panel) {
  const { named, select, button } = elementsOf(panel);
  return {
    attentions: find(panel, '[data-part="attentions"]'),
    attention: select("steps-attention"),
    layer: select("steps-layer"),
    head: select("steps-head"),
    query: select("steps-query"),
    key: select("steps-key"),
    answer: select("steps-answer"),
    ofHead: /** @type {NodeListOf<HTMLElement>} */ (panel.querySelectorAll('[data-part="of-head"]')),
    ofPrediction: /** @type {NodeListOf<HTMLElement>} */ (panel.querySelectorAll('[data-part="of-prediction"]')),
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
