// Written from headlight_app/lesson/contract.py by app/contract_types.py.

import type { AskedQuestion } from "../../course/frontend/contract.ts";
import type { FileAnswer, Request } from "../../ui/frontend/contract.ts";

/** A lesson in the list. If it `chooses_model`, it runs on the learner's open model, which must meet `needs`. */
export interface LessonRow {
  name: string;
  title: string;
  question: string;
  about: string;
  minutes: number;
  version: number;
  steps: string[];
  asks: boolean[];
  chooses_model: boolean;
  model: string;
  needs: string;
}

/** All lessons, in their order. */
export interface LessonsAnswer {
  lessons: LessonRow[];
}

/** All available lessons. */
export type LessonsRequest = Request;

/** A request about one learner's lesson; `model` counts only if the lesson lets the learner choose it. */
export interface OfLessonRequest extends Request {
  lesson: string;
  seed: number;
  model?: string;
  device?: string;
}

/** A step: its paragraphs, the text that the model reads, the address of its view, and its question. */
export interface StepAnswer {
  title: string;
  prose: string[];
  text: string;
  view: string;
  opens_after: boolean;
  question: AskedQuestion | null;
}

/** A step of a lesson after the learner's attempts: "?" requests a hint, and "!" gives up. */
export interface StepRequest extends OfLessonRequest {
  step: number;
  tries?: string[];
}

/** The right answer for one of the lesson's texts or seeds. */
export interface SheetLine {
  text: string;
  question: string;
  right: string;
}

/** A teacher's notes on a step, and its right answers. */
export interface NotesAnswer {
  title: string;
  notes: string[];
  answers: SheetLine[];
}

/** A teacher's notes on a step. */
export interface NotesRequest extends OfLessonRequest {
  step: number;
}

/** The hand-in file: a learner's answers step by step, with a digest. */
export interface HandInRequest extends OfLessonRequest {
  name?: string;
  answers: string[][];
}

/** A hand-in file that a class gave to its teacher, and the name under which the table of grades lists it. */
export interface NamedHandIn {
  name: string;
  file: string;
}

/** The grades of hand-ins as a table, recomputed as by `headlight lesson collect`, or their files in one. */
export interface CollectRequest extends Request {
  files: NamedHandIn[];
  format: "csv" | "zip";
  start?: number;
  count?: number;
  has_head?: boolean;
}

/** The request and the answer of each route. */
export interface LessonRoutes {
  lessons: { request: LessonsRequest; answer: LessonsAnswer };
  lesson_step: { request: StepRequest; answer: StepAnswer };
  lesson_notes: { request: NotesRequest; answer: NotesAnswer };
  lesson_hand_in: { request: HandInRequest; answer: FileAnswer };
  lesson_collect: { request: CollectRequest; answer: FileAnswer };
}
