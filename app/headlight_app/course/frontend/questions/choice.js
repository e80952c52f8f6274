// One of several options.

import { createElement } from "../../../ui/frontend/dom/dom.js";

/** @import { Kind } from "../question.js" */

/** @type {Kind} */
export function createChoice({ text, options, ruled_out }, answer) {
  const buttons = options.map((option) =>
    createElement("button", "small", option, { disabled: ruled_out.includes(option), onclick: () => answer(option) }),
  );
  return createElement("div", "options", buttons, { role: "group", ariaLabel: text });
}
