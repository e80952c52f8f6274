// Written from headlight_app/course/contract.py by app/contract_types.py.

import type { Request } from "../../ui/frontend/contract.ts";

/** One side of a matrix; axes of the same name are resized together. */
export interface Axis {
  name: string;
  least: number;
  most: number;
  labels: string[];
}

/** Something that a learner can change, and the text of its initial value. */
export interface ControlRow {
  name: string;
  title: string;
  default: string;
  when: string;
}

/** A table of numbers; with `switches` its cells are 0 or 1. */
export interface MatrixControl extends ControlRow {
  kind: "matrix";
  rows: Axis;
  columns: Axis;
  switches: boolean;
}

/** A number between two others. */
export interface NumberControl extends ControlRow {
  kind: "number";
  low: number;
  high: number;
  step: number;
}

/** The seed of random numbers. */
export interface SeedControl extends ControlRow {
  kind: "seed";
  low: number;
  high: number;
  step: number;
}

/** A layer or head of the model chosen by the control `model`. */
export interface PartControl extends ControlRow {
  kind: "part";
  low: number;
  high: number;
  step: number;
  part: string;
}

/** One of several options with titles. */
export interface ChoiceControl extends ControlRow {
  kind: "choice";
  options: Record<string, string>;
}

/** A text of at most `longest` characters; its field shows `lines` lines. */
export interface TextControl extends ControlRow {
  kind: "text";
  longest: number;
  lines: number;
}

/** A model that meets the requirement named `needs`. */
export interface ModelControl extends ControlRow {
  kind: "model";
  needs: string;
}

/** A WAV file of the learner, by the name that the server has given it. */
export interface RecordingControl extends ControlRow {
  kind: "recording";
}

/** Another screen, with inputs for it. */
export interface ScreenLink {
  chapter: string;
  screen: string;
  inputs: Record<string, string>;
}

/** A part of the program that computes a screen. */
export interface ScreenCode {
  name: string;
  code: string;
}

/** A symbol of a screen's formulas: its LaTeX, its name in the table of symbols, and its meaning. */
export interface SymbolRow {
  latex: string;
  name: string;
  words: string;
}

/** The row of a screen; `see_also` are screens that continue from this one. */
export interface ScreenRow {
  name: string;
  title: string;
  lesson: string;
  formulas: string[];
  symbols: SymbolRow[];
  controls: (
    | MatrixControl
    | NumberControl
    | SeedControl
    | PartControl
    | ChoiceControl
    | TextControl
    | ModelControl
    | RecordingControl
  )[];
  code: ScreenCode[];
  is_long: boolean;
  see_also: ScreenLink[];
}

/** A screen in the contents: its subject, its duration, and its number on the core path (0: not on it). */
export interface ScreenTitle {
  name: string;
  title: string;
  about: string;
  minutes: number;
  core: number;
}

/** A chapter in the contents. */
export interface ContentsEntry {
  name: string;
  title: string;
  summary: string;
  screens: ScreenTitle[];
}

/** The contents of the course, questions with the screens that answer them, and the screens of one chapter. */
export interface ChapterAnswer {
  contents: ContentsEntry[];
  entries: Record<string, string>;
  same: Record<string, string>;
  chapter: string;
  screens: ScreenRow[];
}

/** The rows of a chapter; of the first if none is named. */
export interface ChapterRequest extends Request {
  chapter?: string;
}

/** A screen's question, and the outcome of the tries so far; `given` is the last try, `mistake` its known mistake. */
export interface AskedQuestion {
  place: number;
  kind: "choice" | "design" | "draw" | "flip" | "number" | "order" | "point";
  text: string;
  options: string[];
  rows: string[];
  columns: string[];
  ruled_out: string[];
  hints: string[];
  more_hints: boolean;
  given: string;
  mistake: string;
  said: string;
  is_settled: boolean;
  is_right: boolean;
}

/** Rows of views, and the parameters of a link to each page on which the learner can continue. */
export interface ScreenAnswer {
  rows: Record<string, unknown>[];
  links: Record<string, Record<string, string>>;
  can_ask: boolean;
  answered: AskedQuestion[];
  question: AskedQuestion | null;
}

/** The results of a screen for its inputs, which are texts by the names of its controls. */
export interface ScreenRequest extends Request {
  chapter: string;
  screen: string;
  inputs: Record<string, string>;
  model_inputs?: string[];
  file_inputs?: string[];
  device?: string;
  asks?: boolean;
  tries?: string[];
}

/** The same for a screen that runs for seconds. */
export type RunRequest = ScreenRequest;

/** The request and the answer of each route. */
export interface CourseRoutes {
  course_chapter: { request: ChapterRequest; answer: ChapterAnswer };
  course_screen: { request: ScreenRequest; answer: ScreenAnswer };
  course_run: { request: RunRequest; answer: ScreenAnswer };
}
