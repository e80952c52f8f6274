// Written from headlight_app/lesson/contract.py by tests/javascript/contracts.py.

import type { AskedQuestion } from "../../course/frontend/contract.js";
import type { FileAnswer, Request } from "../../ui/frontend/contract.js";

/** A lesson in the list. One that `chooses_model` runs on what the learner opens, which must meet `needs`. */
export interface LessonRow {
  name: string;
  title: string;
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

/** The lessons that can be taken. */
export type LessonsRequest = Request;

/** About a lesson as one learner has it; the model counts where the lesson lets them choose it. */
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

/** A step of a lesson, after what the learner has tried: "?" is a hint and "!" giving up. */
export interface StepRequest extends OfLessonRequest {
  step: number;
  tries?: string[];
}

/** The right answer for those who have one of the lesson's texts, or one of some seeds. */
export interface SheetLine {
  text: string;
  question: string;
  right: string;
}

/** What a teacher is told of a step, and its right answers. */
export interface NotesAnswer {
  title: string;
  notes: string[];
  answers: SheetLine[];
}

/** A teacher's notes on a step. */
export interface NotesRequest extends OfLessonRequest {
  step: number;
}

/** The file of what a learner has answered, step by step, with a digest. */
export interface HandInRequest extends OfLessonRequest {
  name?: string;
  answers: string[][];
}

/** What each route is asked, and what it answers. */
export interface LessonRoutes {
  lessons: { request: LessonsRequest; answer: LessonsAnswer };
  lesson_step: { request: StepRequest; answer: StepAnswer };
  lesson_notes: { request: NotesRequest; answer: NotesAnswer };
  lesson_hand_in: { request: HandInRequest; answer: FileAnswer };
}
