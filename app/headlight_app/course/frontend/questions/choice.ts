// One of several options.

import { createElement } from "../../../ui/frontend/dom/dom.ts";
import type { AskedQuestion } from "../contract.ts";
import type { Answer } from "../question.ts";

export function createChoice({ text, options, ruled_out }: AskedQuestion, answer: Answer): HTMLElement {
  const buttons = options.map((option) =>
    createElement("button", "small", option, { disabled: ruled_out.includes(option), onclick: () => answer(option) }),
  );
  return createElement("div", "options", buttons, { role: "group", ariaLabel: text });
}
