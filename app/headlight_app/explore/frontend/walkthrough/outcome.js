// Below every step: the weights of all keys, or, for steps of the prediction, the probabilities of its answers.

import { barAtPointer, drawBars } from "../../../ui/frontend/charts/charts.js";
import { createElement, formatPercent, inlineText } from "../../../ui/frontend/dom/dom.js";
import { HORIZONTAL_STEPS, onArrows } from "../../../ui/frontend/dom/keyboard.js";
import { currentStyle } from "../../../ui/frontend/heads/measurements.js";
import { namedAxis, openStep, shownWalkthrough, walkthroughMemory } from "./walkthrough.js";

/** @import { ExplorePage } from "../types.js" */

const HEIGHT = 124; // pixels

const KEYS = { axis: "key", step: "weights", title: "What it looks at: ", unit: "weights of all keys" };
const ANSWERS = {
  axis: "answer",
  step: "probabilities",
  title: "Where it leads: ",
  unit: "probabilities of the answers",
};

/**
 * The pointer previews a key; a click chooses a key or an answer.
 * @param {ExplorePage} page @param {(key: number | null) => void} previewKey
 */
export function drawOutcome(page, previewKey) {
  const { outcome: canvas, outcomeTitle } = walkthroughMemory(page).elements;
  const { axis, step, title, unit } = openStep(page).part === "prediction" ? ANSWERS : KEYS;
  const numbers = shownWalkthrough(page)
    .steps.find(({ name }) => name === step)
    ?.values.at(-1)?.numbers;
  const named = namedAxis(page, axis);
  if (!numbers || !named) throw new Error(`The answer has no ${unit}.`);
  outcomeTitle.replaceChildren(title, createElement("b", "", unit));
  const labels = named.tokens.map(({ text }) => inlineText(text));
  const reach = { low: 0, high: Math.max(...numbers, 0.01) };
  drawBars(canvas, numbers, { style: currentStyle(page), height: HEIGHT, hot: named.chosen, reach, labels });
  const largest = numbers.indexOf(Math.max(...numbers));
  const most = `the largest is ${formatPercent(numbers[largest])}, of ${labels[largest]}`;
  canvas.ariaLabel = `${title}${unit}; ${most}`;
  const preview = axis === "key" ? previewKey : () => {};
  const choose = (/** @type {number} */ index) => {
    walkthroughMemory(page).previewedKey = null;
    if (index >= 0) named.choose(index);
  };
  const under = (/** @type {MouseEvent} */ event) => barAtPointer(canvas, event, numbers.length);
  canvas.onmousemove = (event) => preview(under(event) < 0 ? null : under(event));
  canvas.onmouseleave = () => preview(null);
  canvas.onclick = (event) => choose(under(event));
  onArrows(canvas, HORIZONTAL_STEPS, (by) => choose(Math.min(Math.max(named.chosen + by, 0), numbers.length - 1)));
}
