// What the page of lessons gets from Python besides what the contract says.

import type { CourseModel } from "../../course/frontend/types.js";

export type * from "./contract.js";
export type { CourseModel };

/** What a link holds: a lesson, and whether its teacher's notes are shown. */
export interface LessonChoice {
  lesson: string;
  notes: string;
}

/** What Streamlit says. */
export interface LessonData {
  api: string;
  /** What stands before the names of pages in their addresses. */
  pages: string;
  state: LessonChoice;
  models: CourseModel[];
  device: string;
  serial: number;
  presenter: string;
}
