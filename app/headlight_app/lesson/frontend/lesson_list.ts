// All lessons: subject, duration, and the learner's progress.

import { createButton, createElement } from "../../ui/frontend/dom/dom.ts";
import type { LessonRow } from "./types.ts";
import type { Work } from "./work.ts";

export function createLessonList(
  lessons: LessonRow[],
  workOn: (lesson: LessonRow) => Work,
  open: (name: string) => void,
) {
  return createElement("ol", "lesson-list", [
    ...lessons.map((lesson) => {
      const { name, title, about, minutes, chooses_model: chooses } = lesson;
      const { settled, asked } = workOn(lesson).settledCount;
      const done = settled ? ` · ${settled} of ${asked} questions answered` : "";
      const own = chooses ? " · with a checkpoint of your choice" : "";
      const parts = [
        createElement("strong", "", title),
        createElement("span", "about", about),
        createElement("span", "quiet", `${minutes} min${own}${done}`),
      ];
      return createElement("li", "panel", [createButton("chapter-card", parts, `lesson-${name}`, () => open(name))]);
    }),
  ]);
}
