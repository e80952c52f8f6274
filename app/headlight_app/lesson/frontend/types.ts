// The data from Python that are not in the contract.

import type { CourseModel } from "../../course/frontend/types.ts";

export type * from "./contract.ts";
export type { CourseModel };

/** The state in a link: a lesson, its open step, whether its notes are shown, and the work of another browser. */
export interface LessonChoice {
  lesson: string;
  notes: string;
  lesson_step: string;
  lesson_work: string;
}

/** The data from Streamlit. */
export interface LessonData {
  api: string;
  /** The URL prefix of page names. */
  pages: string;
  state: LessonChoice;
  models: CourseModel[];
  device: string;
  serial: number;
  presenter: string;
}
