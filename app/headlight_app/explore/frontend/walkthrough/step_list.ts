// The list of steps, each with its resulting number.

import { createElement } from "../../../ui/frontend/dom/dom.ts";
import { LIST_STEPS, onArrows } from "../../../ui/frontend/dom/keyboard.ts";
import { formatNumber } from "../../../ui/frontend/dom/numbers.ts";
import type { ExplorePage } from "../types.ts";
import type { Step } from "./walkthrough.ts";
import { moveStep, namedAxis, openStepIndex, shownWalkthrough, walkthroughMemory } from "./walkthrough.ts";

export function drawStepList(page: ExplorePage) {
  const { list } = walkthroughMemory(page).elements;
  const { steps } = shownWalkthrough(page);
  const open = openStepIndex(page);
  if (list.children.length !== steps.length)
    list.replaceChildren(...steps.map(() => createElement("button", "", [], { role: "tab" })));
  const buttons = [...list.querySelectorAll("button")];
  steps.forEach((step, index) => {
    const button = buttons[index];
    button.dataset.testid = `stair-${step.name}`;
    button.classList.toggle("first-of-part", index > 0 && step.part !== steps[index - 1].part);
    button.ariaSelected = String(index === open);
    button.tabIndex = index === open ? 0 : -1;
    button.replaceChildren(
      createElement("i", "", index + 1),
      createElement("span", "", step.title),
      createElement("b", "", resultText(page, step)),
    );
    button.onclick = () => page.change({ step: step.name });
    onArrows(button, LIST_STEPS, (by, event) => {
      event.stopPropagation();
      moveStep(page, by);
      buttons[openStepIndex(page)].focus();
    });
  });
  list.scrollLeft = buttons[open].offsetLeft - list.clientWidth / 2 + buttons[open].clientWidth / 2;
}

/** The last value of a step if it is a single number, or has one for the key or the answer. */
function resultText(page: ExplorePage, { values }: Step) {
  const { axis, numbers } = values[values.length - 1];
  const place = axis ? namedAxis(page, axis)?.chosen : 0;
  return place === undefined ? "" : formatNumber(numbers[place], 3);
}
