// The list of steps, each with the number that it ends with.

import { formatNumber } from "../../../../model/rendering/static/ui/charts.js";
import { createElement } from "../../../../model/rendering/static/ui/dom.js";
import { LIST_STEPS } from "../../../../model/rendering/static/ui/keyboard.js";
import { moveStep, openStepIndex, shownWalkthrough, walkthroughMemory } from "./walkthrough.js";

/** @import { ExplorePage } from "../types.js" */
/** @import { Step } from "./walkthrough.js" */

/** @param {ExplorePage} page */
export function drawStepList(page) {
  const { list } = walkthroughMemory(page).elements;
  const { steps, key } = shownWalkthrough(page);
  const open = openStepIndex(page);
  if (list.children.length !== steps.length) list.replaceChildren(...steps.map(createButton));
  const buttons = [...list.querySelectorAll("button")];
  steps.forEach((step, index) => {
    const button = buttons[index];
    button.dataset.testid = `stair-${step.name}`;
    button.setAttribute("aria-selected", String(index === open));
    button.tabIndex = index === open ? 0 : -1;
    button.replaceChildren(
      createElement("i", "", index + 1),
      createElement("span", "", step.title),
      createElement("b", "", resultText(step, key)),
    );
    button.onclick = () => page.change({ step: step.name });
    button.onkeydown = (event) => onStepKey(page, buttons, event);
  });
  list.scrollLeft = buttons[open].offsetLeft - list.clientWidth / 2 + buttons[open].clientWidth / 2;
}

function createButton() {
  const button = createElement("button");
  button.setAttribute("role", "tab");
  return button;
}

/** The last value of a step where it is one number, or has one for the key. @param {Step} step @param {number} key */
function resultText({ values }, key) {
  const { axis, numbers } = values[values.length - 1];
  if (axis === "key") return formatNumber(numbers[key], 3);
  return axis ? "" : formatNumber(numbers[0], 3);
}

/** @param {ExplorePage} page @param {HTMLButtonElement[]} buttons @param {KeyboardEvent} event */
function onStepKey(page, buttons, event) {
  const by = LIST_STEPS[event.key];
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  moveStep(page, by);
  buttons[openStepIndex(page)].focus();
}
