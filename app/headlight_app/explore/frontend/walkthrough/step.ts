// One step: its meaning, its formula, its values as bars, its lines of code, and all its numbers.

import { formulaNodes } from "../../../ui/frontend/charts/charts.ts";
import { closest, createElement, updateChildren } from "../../../ui/frontend/dom/dom.ts";
import { HORIZONTAL_STEPS, onArrows } from "../../../ui/frontend/dom/keyboard.ts";
import { formatNumber } from "../../../ui/frontend/dom/numbers.ts";
import type { ExplorePage } from "../types.ts";
import { createValues, drawValues } from "./step_values.ts";
import type { Step } from "./walkthrough.ts";
import { moveStep, openStep, openStepIndex, shownWalkthrough, walkthroughMemory } from "./walkthrough.ts";

export function drawStep(page: ExplorePage) {
  const { title, meaning, formula, shapes, values } = walkthroughMemory(page).elements;
  const step = openStep(page);
  title.textContent = `${openStepIndex(page) + 1}. ${step.title}`;
  meaning.textContent = step.explanation;
  formula.replaceChildren(
    ...step.formula.split(/,\s{3}/).map((text) => createElement("span", "equation", formulaNodes(text))),
  );
  if (step.edited)
    formula.append(
      createElement("span", "edited", "Changed here by an edit: the model continued with the numbers shown."),
    );
  shapes.textContent = shapesText(step);
  drawTurns(page);
  updateChildren(values, ...createValues(page, step));
  drawValues(page);
  drawCode(page, step);
}

/** The buttons and keys for moving to other steps. */
function drawTurns(page: ExplorePage) {
  const { back, next, step } = walkthroughMemory(page).elements;
  const open = openStepIndex(page);
  back.disabled = open === 0;
  next.disabled = open === shownWalkthrough(page).steps.length - 1;
  back.onclick = () => moveStep(page, -1);
  next.onclick = () => moveStep(page, 1);
  onArrows(step, HORIZONTAL_STEPS, (by, event) => !closest(event, "select, canvas, pre") && moveStep(page, by));
}

function shapesText({ shapes }: Step) {
  const words = shapes.map(
    ({ hook_point, axes, sizes }) =>
      `${hook_point}: ${axes.map((axis, index) => `${axis.replaceAll("_", " ")} ${sizes[index]}`).join(" × ")}`,
  );
  return words.length
    ? `Shape of the whole value: ${words.join(";  ")}`
    : "Computed from the values above; it has no name of its own in the trace.";
}

function drawCode(page: ExplorePage, { name, values }: Step) {
  const { code, numbers } = walkthroughMemory(page).elements;
  const pieces = shownWalkthrough(page).code?.[name] ?? [];
  code.replaceChildren(
    ...pieces.flatMap(({ location, code: lines }) => [
      createElement("p", "where", location),
      createElement("pre", "", lines, { tabIndex: 0 }),
    ]),
  );
  const rows = values.map((value) => {
    const words = Array.from(value.numbers, (number) => formatNumber(number)).join("  ");
    return createElement("p", "", [...formulaNodes(value.symbol), createElement("span", "", ` = ${words}`)]);
  });
  updateChildren(numbers, ...rows);
}
