// Written from headlight_app/course/contract.py by tests/javascript/contracts.py.

/** One side of a matrix; those of one name grow and shrink together. */
export interface Axis {
  name: string;
  least: number;
  most: number;
  labels: string[];
}

/** A table of numbers; with `switches` its cells are 0 or 1. */
export interface MatrixControl {
  kind: "matrix";
  name: string;
  title: string;
  default: string;
  rows: Axis;
  columns: Axis;
  switches: boolean;
}

/** A number between two others. */
export interface NumberControl {
  kind: "number";
  name: string;
  title: string;
  default: string;
  low: number;
  high: number;
  step: number;
}

/** A number that begins a row of random ones. */
export interface SeedControl {
  kind: "seed";
  name: string;
  title: string;
  default: string;
  low: number;
  high: number;
  step: number;
}

/** A layer or head of the model that the control `model` chooses. */
export interface PartControl {
  kind: "part";
  name: string;
  title: string;
  default: string;
  low: number;
  high: number;
  step: number;
  part: string;
}

/** One of several options, which have titles. */
export interface ChoiceControl {
  kind: "choice";
  name: string;
  title: string;
  default: string;
  options: Record<string, string>;
}

/** A text of several lines at most. */
export interface TextControl {
  kind: "text";
  name: string;
  title: string;
  default: string;
  longest: number;
  lines: number;
}

/** A model that meets the requirement of the name `needs`. */
export interface ModelControl {
  kind: "model";
  name: string;
  title: string;
  default: string;
  needs: string;
}

/** A WAV file of the learner's own, by the name that the server has given it. */
export interface RecordingControl {
  kind: "recording";
  name: string;
  title: string;
  default: string;
}

/** Another screen, and the inputs that it is to have. */
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

/** A screen as its row says it; `see_also` are screens that go on from this one. */
export interface ScreenRow {
  name: string;
  title: string;
  lesson: string;
  formulas: string[];
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

/** A screen in the contents. */
export interface ScreenTitle {
  name: string;
  title: string;
}

/** A chapter in the contents. */
export interface ContentsEntry {
  name: string;
  title: string;
  summary: string;
  screens: ScreenTitle[];
}

/** The contents of the course, and the screens of one chapter. */
export interface ChapterAnswer {
  contents: ContentsEntry[];
  chapter: string;
  screens: ScreenRow[];
}

/** The rows of a chapter; of the first where none is named. */
export interface ChapterRequest {
  client_id?: string;
  request_number?: number;
  chapter?: string;
}

/**
 * Rows of pictures, and the parameters of a link to each page where one can go on.
 *
 * `headlight.course.pictures` has a dataclass for each kind of picture, which nothing between it and the module that
 * draws that kind reads: the rows pass here as they are.
 */
export interface ScreenAnswer {
  rows: Record<string, unknown>[];
  links: Record<string, Record<string, string>>;
}

/**
 * What a screen shows for its inputs, texts by the names of its controls.
 *
 * `model_inputs` are the names of those that name a model, `file_inputs` of those that name a file of the learner's.
 */
export interface ScreenRequest {
  client_id?: string;
  request_number?: number;
  chapter: string;
  screen: string;
  inputs: Record<string, string>;
  model_inputs?: string[];
  file_inputs?: string[];
  device?: string;
}

/** The same of a screen that runs for seconds. */
export interface RunRequest {
  client_id?: string;
  request_number?: number;
  chapter: string;
  screen: string;
  inputs: Record<string, string>;
  model_inputs?: string[];
  file_inputs?: string[];
  device?: string;
}

/** What each route is asked, and what it answers. */
export interface CourseRoutes {
  course_chapter: { request: ChapterRequest; answer: ChapterAnswer };
  course_screen: { request: ScreenRequest; answer: ScreenAnswer };
  course_run: { request: RunRequest; answer: ScreenAnswer };
}
