// Questions by which a learner finds what answers them, at the top of a list.

import { createButton, createElement } from "./dom.ts";

/** A button for each question, which opens what it is paired with. */
export function createEntries(entries: [string, string][], open: (name: string) => void) {
  const buttons = entries.map(([question, name]) => createButton("act", question, "", () => open(name)));
  return createElement("div", "entries", buttons, {
    testid: "entries",
    role: "group",
    ariaLabel: "Begin with a question",
  });
}
