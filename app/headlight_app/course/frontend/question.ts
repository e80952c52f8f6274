// The question of a screen: fields for the answer, hints, a comment on a wrong answer, and a way to skip it.

import { GIVE_UP, HINT } from "../../ui/frontend/contract.ts";
import { createButton, createElement } from "../../ui/frontend/dom/dom.ts";
import { table } from "../../ui/frontend/dom/table.ts";
import { titleNodes } from "../../ui/frontend/formulas/formula.ts";
import type { AskedQuestion } from "./contract.ts";
import { createChoice } from "./questions/choice.ts";
import { createDraw } from "./questions/draw.ts";
import { createGoal } from "./questions/goal.ts";
import { createNumber } from "./questions/number.ts";
import { createOrder } from "./questions/order.ts";
import { createPoint } from "./questions/point.ts";

export type Answer = (answer: string) => void; // called with the answer that a learner tries
type Kind = (question: AskedQuestion, answer: Answer) => HTMLElement;

/** Kinds of questions, as in headlight.questions.kinds. */
const KINDS: Record<AskedQuestion["kind"], Kind> = table({
  choice: createChoice,
  number: createNumber,
  point: createPoint,
  draw: createDraw,
  order: createOrder,
  design: createGoal,
  flip: createGoal,
});

/** Whether the learner answers by changing the screen. */
export function isGoal(question: AskedQuestion) {
  return question.kind === "design" || question.kind === "flip";
}

export function createQuestion(question: AskedQuestion, answer: Answer) {
  const element = createElement("div", `question${question.is_settled ? " settled" : ""}`, [], { testid: "question" });
  element.tabIndex = -1; // a settled question has no button that could keep the focus
  element.append(createElement("p", "asked", titleNodes(question.text)));
  if (!question.is_settled) element.append(KINDS[question.kind](question, answer));
  for (const hint of question.hints) element.append(createElement("p", "hint", titleNodes(hint)));
  const said = createElement("p", "said", titleNodes(question.said), { testid: "said" });
  if (question.said) said.dataset.right = String(question.is_right);
  element.append(said);
  if (!question.is_settled) element.append(others(question, answer));
  return element;
}

function others({ more_hints }: AskedQuestion, answer: Answer) {
  const hint = createButton("plain", "A hint", "hint", () => answer(HINT));
  const way = createButton("plain", "Show me", "show-me", () => answer(GIVE_UP));
  return createElement("div", "options", more_hints ? [hint, way] : [way]);
}
