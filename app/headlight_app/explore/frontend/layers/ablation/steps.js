// Step-by-step computations on heads: they run until everything is done, the visitor stops them, or the question
// changes.

import { failureText, isAbort } from "../../../../ui/frontend/server.js";
import { layerElement } from "../layer_panel.js";

/** @import { ExplorePage } from "../../types.js" */
/** @typedef {{ running: AbortController | null, problem: string }} Steps */

/** Why no head of this model can be turned off; empty if one can. @param {ExplorePage} page */
export function whyNoHeads({ state: { answer } }) {
  if (!answer.attention_groups.length) return "This model has no layers, so it has no heads to turn off.";
  if (answer.predictions.length) return "";
  return "This model ends without a head, so there is no answer that its heads could change.";
}

/**
 * Draws the start and stop button, the progress, and a sentence about it.
 * @param {ExplorePage} page @param {string} name of the button @param {Steps} steps @param {() => void} start
 * @param {{ title: string, share: number, isUnderway: boolean, words: (Node | string)[] }} shown
 */
export function drawSteps(page, name, steps, start, { title, share, isUnderway, words }) {
  const button = layerElement(page, name, HTMLButtonElement);
  const bar = layerElement(page, `${name}-progress`, HTMLProgressElement);
  button.textContent = steps.running ? "Stop" : title;
  button.onclick = () => (steps.running ? stopSteps(page, steps) : start());
  bar.hidden = !isUnderway;
  bar.value = share;
  layerElement(page, `${name}-status`).replaceChildren(...(steps.problem ? [steps.problem] : words));
}

/** @param {ExplorePage} page @param {Steps} steps */
function stopSteps(page, steps) {
  steps.running?.abort();
  steps.running = null;
  page.view.redraw();
}

/**
 * Continues step by step while the question is the displayed one.
 * @param {ExplorePage} page @param {Steps} steps @param {() => boolean} isShown
 * @param {(signal: AbortSignal) => Promise<boolean>} step whether there was another step
 */
export async function takeSteps(page, steps, isShown, step) {
  const running = new AbortController();
  const redraw = () => {
    if (isShown() && page.state.choice.tab === "layers") page.view.redraw();
  };
  Object.assign(steps, { running, problem: "" });
  redraw();
  try {
    while (isShown() && !running.signal.aborted && (await step(running.signal))) redraw();
  } catch (error) {
    if (!isAbort(error)) steps.problem = failureText(error);
  } finally {
    if (steps.running === running) steps.running = null;
    redraw();
  }
}
