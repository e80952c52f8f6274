// The end of a lesson: the number of answered questions, the file to hand in, and a restart.

import { createButton, createElement } from "../../ui/frontend/dom/dom.ts";
import type { Work } from "./work.ts";

const PROOF =
  "The file contains your answers, but no marks: your teacher computes those. Its digest reveals only accidental changes.";
const HANDED =
  "It stays in the room until your teacher ends the room, four hours at most. If you hand in again, the new one counts.";

/**
 * @param save returns an error sentence, or ""
 * @param give the same for the teacher's room; null outside of one
 */
export function createHandIn(
  work: Work,
  save: (name: string) => Promise<string>,
  give: ((name: string) => Promise<string>) | null,
  restart: () => void,
) {
  const { settled, right, asked } = work.settledCount;
  const told = `${settled} of ${asked} questions are settled, ${right} of them correctly.`;
  const name = createElement("input", "", [], {
    type: "text",
    maxLength: 100,
    testid: "hand-in-name",
    autocomplete: "name",
  });
  const problem = createElement("p", "problem", "", { role: "alert", hidden: true });
  const said = createElement("p", "", "", { role: "status", testid: "handed-in" });
  const first = createElement("button", "act primary", give ? "Hand in" : "Save it as a file", {
    type: "submit",
    testid: "hand-in",
  });
  const act = async (made: typeof save, sentence: string) => {
    problem.textContent = await made(name.value);
    problem.hidden = !problem.textContent;
    said.textContent = problem.textContent ? "" : sentence;
  };
  const other = give ? [createButton("act", "Save it as a file", "save-hand-in", () => void act(save, ""))] : [];
  const form = createElement("form", "options", [createElement("label", "", ["Your name ", name]), first, ...other], {
    onsubmit: (event) => {
      event.preventDefault();
      void act(give ?? save, give ? HANDED : "");
    },
  });
  const again = createButton("plain", "Restart with another text or other numbers", "restart", restart);
  const parts = [createElement("h3", "", "Hand in"), createElement("p", "", told), form, said, problem];
  return createElement("section", "hand-in panel", [...parts, createElement("p", "quiet", PROOF), again]);
}
