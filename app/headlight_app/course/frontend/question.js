// The question of a screen: fields for the answer, hints, a comment on a wrong answer, and a way to skip it.

import { createButton, createElement } from "../../ui/frontend/dom/dom.js";
import { table } from "../../ui/frontend/dom/table.js";
import { titleNodes } from "../../ui/frontend/formulas/formula.js";
import { createChoice } from "./questions/choice.js";
import { createDraw } from "./questions/draw.js";
import { createGoal } from "./questions/goal.js";
import { createNumber } from "./questions/number.js";
import { createOrder } from "./questions/order.js";
import { createPoint } from "./questions/point.js";

/** @import { AskedQuestion } from "./contract.js" */
/** @typedef {(answer: string) => void} Answer called with the answer that a learner tries */
/** @typedef {(question: AskedQuestion, answer: Answer) => HTMLElement} Kind */

export const HINT = "?"; // in place of an answer: headlight.course.questions
export const GIVE_UP = "!";

/** Kinds of questions, as in headlight.questions.kinds. @type {Record<AskedQuestion["kind"], Kind>} */
const KINDS = table({
  choice: createChoice,
  number: createNumber,
  point: createPoint,
  draw: createDraw,
  order: createOrder,
  design: createGoal,
  flip: createGoal,
});

/** Whether the learner answers by changing the screen. @param {AskedQuestion} question */
export function isGoal(question) {
  return question.kind === "design" || question.kind === "flip";
}

/** @param {AskedQuestion} question @param {Answer} answer */
export function createQuestion(question, answer) {
  const element = createElement("div", `question${question.is_settled ? " settled" : ""}`, [], { testid: "question" });
  element.tabIndex = -1; // a settled question has no button that could keep the focus
  element.append(createElement("p", "asked", titleNodes(question.text)));
  if (!question.is_settled) element.append(KINDS[question.kind](question, answer));
  for (const hint of question.hints) element.append(createElement("p", "hint", hint));
  const said = createElement("p", "said", question.said, { testid: "said" });
  if (question.said) said.dataset.right = String(question.is_right);
  element.append(said);
  if (!question.is_settled) element.append(others(question, answer));
  return element;
}

/** @param {AskedQuestion} question @param {Answer} answer */
function others({ more_hints }, answer) {
  const hint = createButton("plain", "A hint", "hint", () => answer(HINT));
  const way = createButton("plain", "Show me", "show-me", () => answer(GIVE_UP));
  return createElement("div", "options", more_hints ? [hint, way] : [way]);
}
