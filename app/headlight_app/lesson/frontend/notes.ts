// A teacher's notes: comments on each step, and the right answer for each text. Learners' pages do not request them.

import { createElement, createHeading } from "../../ui/frontend/dom/dom.ts";
import { askRoute, failureText } from "../../ui/frontend/server.ts";
import type { LessonRow, NotesAnswer, NotesRequest } from "./types.ts";

/** The notes of each step, fetched one after another. */
export function createNotes(api: string, lesson: LessonRow, asked: Pick<NotesRequest, "model" | "device">) {
  const steps = lesson.steps.map((title, step) => {
    const section = createElement("section", "panel", [createElement("h2", "", `${step + 1}. ${title}`)]);
    section.dataset.testid = `notes-${step}`;
    section.ariaBusy = "true";
    return section;
  });
  void fillAll(api, lesson.name, asked, steps);
  return createElement("div", "lesson-notes", steps);
}

async function fillAll(
  api: string,
  lesson: string,
  asked: Pick<NotesRequest, "model" | "device">,
  sections: HTMLElement[],
) {
  for (const [step, section] of sections.entries()) {
    if (step && !section.isConnected) return;
    try {
      const { meta } = await askRoute(api, "lesson_notes", { lesson, seed: 0, step, ...asked });
      section.append(...createSheet(meta));
    } catch (error) {
      section.append(createElement("p", "problem", failureText(error), { role: "alert" }));
    }
    section.ariaBusy = "false";
  }
}

function createSheet({ notes, answers }: NotesAnswer) {
  const paragraphs = notes.map((note) => createElement("p", "lesson", note));
  if (!answers.length) return paragraphs;
  const heads = ["Text", "Question", "Right answer"].map((title) => createHeading(title, "col"));
  const rows = answers.map((line) =>
    createElement(
      "tr",
      "",
      [line.text, line.question, line.right].map((each) => createElement("td", "", each)),
    ),
  );
  const table = createElement("table", "answer-sheet", [createElement("tr", "", heads), ...rows]);
  return [
    ...paragraphs,
    createElement("div", "scroll", [table], { tabIndex: 0, role: "region", ariaLabel: "Answers" }),
  ];
}
