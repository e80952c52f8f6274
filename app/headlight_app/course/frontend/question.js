// The question of a screen: options or a field, hints, what is said of a wrong answer, and a way past it.

import { createButton, createElement } from "../../ui/frontend/dom/dom.js";

/** @import { AskedQuestion } from "./contract.js" */

const HINT = "?"; // in place of an answer: headlight.course.questions
const GIVE_UP = "!";

/** @param {AskedQuestion} question @param {(answer: string) => void} answer what the learner tries */
export function createQuestion(question, answer) {
  const element = createElement("div", `question${question.is_settled ? " settled" : ""}`, [], { testid: "question" });
  element.tabIndex = -1; // once it is settled it has no button to keep the focus
  element.append(createElement("p", "asked", question.text));
  if (!question.is_settled) element.append(question.options.length ? options(question, answer) : field(answer));
  for (const hint of question.hints) element.append(createElement("p", "hint", hint));
  const said = createElement("p", "said", question.said, { testid: "said" });
  if (question.said) said.dataset.right = String(question.is_right);
  element.append(said);
  if (!question.is_settled) element.append(others(question, answer));
  return element;
}

/** @param {AskedQuestion} question @param {(answer: string) => void} answer */
function options({ text, options, ruled_out }, answer) {
  return createElement(
    "div",
    "options",
    options.map((option) =>
      createElement("button", "small", option, { disabled: ruled_out.includes(option), onclick: () => answer(option) }),
    ),
    { role: "group", ariaLabel: text },
  );
}

/** @param {(answer: string) => void} answer */
function field(answer) {
  const named = { testid: "answer", ariaLabel: "Your answer" };
  const input = createElement("input", "figure", [], { ...named, inputMode: "decimal" });
  const button = createElement("button", "small", "Check", { type: "submit" });
  return createElement("form", "options", [input, button], {
    onsubmit: (event) => {
      event.preventDefault();
      if (input.value.trim()) answer(input.value.trim());
    },
  });
}

/** @param {AskedQuestion} question @param {(answer: string) => void} answer */
function others({ more_hints }, answer) {
  const hint = createButton("plain", "A hint", "hint", () => answer(HINT));
  const way = createButton("plain", "Show me", "show-me", () => answer(GIVE_UP));
  return createElement("div", "options", more_hints ? [hint, way] : [way]);
}
