// A number to be typed.

import { createElement } from "../../../ui/frontend/dom/dom.ts";
import type { AskedQuestion } from "../contract.ts";
import type { Answer } from "../question.ts";

export function createNumber(_question: AskedQuestion, answer: Answer): HTMLElement {
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
