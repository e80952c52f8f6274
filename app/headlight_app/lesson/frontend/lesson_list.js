// All lessons: subject, duration, and the learner's progress.

import { createButton, createElement } from "../../ui/frontend/dom/dom.js";

/** @import { LessonRow } from "./types.js" */
/** @import { Work } from "./work.js" */

/** @param {LessonRow[]} lessons @param {(lesson: LessonRow) => Work} workOn @param {(name: string) => void} open */
export function createLessonList(lessons, workOn, open) {
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
