// Below every step: the weights of all keys, or, for steps of the prediction, the numbers of its answers.

import { answerNumber } from "../../../ui/frontend/charts/answer_numbers.ts";
import { barAtPointer, drawBars } from "../../../ui/frontend/charts/charts.ts";
import { createElement, inlineText } from "../../../ui/frontend/dom/dom.ts";
import { HORIZONTAL_STEPS, onArrows } from "../../../ui/frontend/dom/keyboard.ts";
import { currentStyle } from "../../../ui/frontend/plots/measurements.ts";
import type { ExplorePage } from "../types.ts";
import { answersOf, namedAxis, openStep, shownWalkthrough, walkthroughMemory } from "./walkthrough.ts";

const HEIGHT = 124; // pixels

const KEYS = { axis: "key", title: "What it looks at: ", unit: "weights of all keys" };
const ANSWERS = { axis: "answer", title: "Where it leads: " };

/** The pointer previews a key; a click chooses a key or an answer. */
export function drawOutcome(page: ExplorePage, previewKey: (key: number | null) => void) {
  const { outcome: canvas, outcomeTitle } = walkthroughMemory(page).elements;
  const { steps } = shownWalkthrough(page);
  const weights = steps.find(({ name }) => name === "weights")?.values.at(-1)?.numbers;
  const { axis, title, unit, numbers, meaning } =
    openStep(page).part === "prediction"
      ? { ...ANSWERS, ...answersOf(steps) }
      : { ...KEYS, numbers: weights, meaning: {} };
  const named = namedAxis(page, axis);
  if (!numbers || !named) throw new Error(`The answer has no ${unit}.`);
  outcomeTitle.replaceChildren(title, createElement("b", "", unit));
  const labels = named.tokens.map(({ text }) => inlineText(text));
  const reach = { low: Math.min(...numbers, 0), high: Math.max(...numbers, 0.01) };
  drawBars(canvas, numbers, { style: currentStyle(page), height: HEIGHT, hot: named.chosen, reach, labels });
  const largest = numbers.indexOf(Math.max(...numbers));
  const most = `the largest is ${answerNumber(meaning, numbers[largest])}, of ${labels[largest]}`;
  canvas.ariaLabel = `${title}${unit}; ${most}`;
  const preview = axis === "key" ? previewKey : () => {};
  const choose = (index: number) => {
    walkthroughMemory(page).previewedKey = null;
    if (index >= 0) named.choose(index);
  };
  const under = (event: MouseEvent) => barAtPointer(canvas, event, numbers.length);
  canvas.onmousemove = (event) => preview(under(event) < 0 ? null : under(event));
  canvas.onmouseleave = () => preview(null);
  canvas.onclick = (event) => choose(under(event));
  onArrows(canvas, HORIZONTAL_STEPS, (by) => choose(Math.min(Math.max(named.chosen + by, 0), numbers.length - 1)));
}
