// All keys with their weights: the pointer tries a key, a click keeps it.

import { barAtPointer, drawBars } from "../../../ui/frontend/charts/charts.js";
import { formatPercent, inlineText } from "../../../ui/frontend/dom/dom.js";
import { HORIZONTAL_STEPS } from "../../../ui/frontend/dom/keyboard.js";
import { currentStyle } from "../../../ui/frontend/heads/measurements.js";
import { keyTokens } from "../../../ui/frontend/state/token_selection.js";
import { shownWalkthrough, walkthroughMemory } from "./walkthrough.js";

/** @import { ExplorePage } from "../types.js" */
/** @import { Walkthrough } from "./walkthrough.js" */

const HEIGHT = 124; // pixels

/** @param {ExplorePage} page @param {(key: number | null) => void} preview */
export function drawKeyWeights(page, preview) {
  const { keys } = walkthroughMemory(page).elements;
  const walkthrough = shownWalkthrough(page);
  const weights = weightsOf(walkthrough);
  const labels = keyTokens(page).map(({ text }) => inlineText(text));
  const reach = { low: 0, high: Math.max(...weights, 0.01) };
  drawBars(keys, weights, { style: currentStyle(page), height: HEIGHT, hot: walkthrough.key, reach, labels });
  const largest = weights.indexOf(Math.max(...weights));
  keys.setAttribute(
    "aria-label",
    `Weights of ${weights.length} keys; the largest is ${formatPercent(weights[largest])}, of ${labels[largest]}`,
  );
  const under = (/** @type {MouseEvent} */ event) => barAtPointer(keys, event, weights.length);
  keys.onmousemove = (event) => {
    const key = under(event);
    preview(key < 0 ? null : key);
  };
  keys.onmouseleave = () => preview(null);
  keys.onclick = (event) => selectKey(page, under(event));
  keys.onkeydown = (event) => {
    const by = HORIZONTAL_STEPS[event.key];
    if (!by) return;
    event.preventDefault();
    selectKey(page, Math.min(Math.max(walkthrough.key + by, 0), weights.length - 1));
  };
}

/** @param {Walkthrough} walkthrough */
function weightsOf({ steps }) {
  const weights = steps.find(({ name }) => name === "weights")?.values[1];
  if (!weights) throw new Error("The answer has no weights of the keys.");
  return weights.numbers;
}

/** @param {ExplorePage} page @param {number} key */
function selectKey(page, key) {
  walkthroughMemory(page).previewedKey = null;
  if (key >= 0) page.change({ key });
}
