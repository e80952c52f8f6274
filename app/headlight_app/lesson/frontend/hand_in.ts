// The end of a lesson: the number of answered questions, the file to hand in, and a restart.

import { createButton, createElement } from "../../ui/frontend/dom/dom.ts";
import type { Work } from "./work.ts";

const PROOF =
  "The file contains your answers, but no marks: your teacher computes those. Its digest reveals only accidental changes.";

/** @param save returns an error sentence, or "" */
export function createHandIn(work: Work, save: (name: string) => Promise<string>, restart: () => void) {
  const { settled, right, asked } = work.settledCount;
  const told = `${settled} of ${asked} questions are settled, ${right} of them correctly.`;
  const name = createElement("input", "", [], {
    type: "text",
    maxLength: 100,
    testid: "hand-in-name",
    autocomplete: "name",
  });
  const problem = createElement("p", "problem", "", { role: "alert", hidden: true });
  const button = createElement("button", "act primary", "Save it as a file", { type: "submit", testid: "hand-in" });
  const form = createElement("form", "options", [createElement("label", "", ["Your name ", name]), button], {
    onsubmit: async (event) => {
      event.preventDefault();
      problem.textContent = await save(name.value);
      problem.hidden = !problem.textContent;
    },
  });
  const again = createButton("plain", "Restart with another text or other numbers", "restart", restart);
  const parts = [createElement("h3", "", "Hand in"), createElement("p", "", told), form, problem];
  return createElement("section", "hand-in panel", [...parts, createElement("p", "quiet", PROOF), again]);
}
