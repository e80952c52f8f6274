// A goal to reach by changing the screen: the change is the answer, and a button submits it.

import { createElement } from "../../../ui/frontend/dom/dom.js";

/** @import { Kind } from "../question.js" */

const CHECK = "check"; // headlight.questions.kinds

/** @type {Kind} */
export function createGoal({ ruled_out }, answer) {
  const button = createElement("button", "small", "Check", { onclick: () => answer(CHECK) });
  button.disabled = ruled_out.includes(CHECK); // until something is changed
  return createElement("div", "options", [button]);
}
