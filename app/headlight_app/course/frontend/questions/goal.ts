// A goal to reach by changing the screen: the change is the answer, and a button submits it.

import { CHECK } from "../../../ui/frontend/contract.ts";
import { createElement } from "../../../ui/frontend/dom/dom.ts";
import type { AskedQuestion } from "../contract.ts";
import type { Answer } from "../question.ts";

export function createGoal({ ruled_out }: AskedQuestion, answer: Answer): HTMLElement {
  const button = createElement("button", "small", "Check", { onclick: () => answer(CHECK) });
  button.disabled = ruled_out.includes(CHECK); // until something is changed
  return createElement("div", "options", [button]);
}
