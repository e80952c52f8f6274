// A row of pictures, and the question that may come before it.

import { createElement } from "../../ui/frontend/dom/dom.js";
import { titleNodes } from "./formula.js";
import { createPicture } from "./pictures/pictures.js";

/** @import { Surroundings } from "./links.js" */
/** @import { Question, Row } from "./types.d.ts" */

/** @param {Row} row @param {boolean} asksFirst @param {Surroundings} surroundings */
export function createRow(row, asksFirst, surroundings) {
  const element = createElement("div", "row");
  if (row.title) {
    const title = createElement("h3");
    title.append(...titleNodes(row.title));
    element.append(title);
  }
  if (row.text) element.append(createElement("p", "quiet", row.text));
  const pictures = createElement("div", "pictures");
  pictures.append(...row.pictures.map((picture) => createPicture(picture, surroundings)));
  if (row.question && asksFirst) element.append(createQuestion(row.question, pictures));
  element.append(pictures);
  return element;
}

/**
 * The options; the pictures are shown once one of them was chosen.
 * @param {Question} question @param {HTMLElement} pictures
 */
function createQuestion({ text, options, answer }, pictures) {
  const element = createElement("div", "question");
  element.dataset.testid = "question";
  const verdict = createElement("p", "quiet");
  verdict.setAttribute("role", "status");
  pictures.hidden = true;
  const buttons = options.map((option, index) => {
    const button = createElement("button", "small", option);
    button.onclick = () => {
      pictures.hidden = false;
      for (const other of buttons) other.disabled = true;
      button.setAttribute("aria-pressed", "true");
      element.classList.add("answered");
      verdict.textContent = index === answer ? "Right." : `Not quite: it is ${options[answer]}. Look at the numbers.`;
    };
    return button;
  });
  const group = createElement("div", "options");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", text);
  group.append(...buttons);
  element.append(createElement("p", "", text), group, verdict);
  return element;
}
