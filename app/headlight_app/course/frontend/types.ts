// Data that the Course gets from Python besides the contract.

import type { ViewRow } from "../../ui/frontend/views/types.ts";
import type {
  NumberControl,
  PartControl,
  ScreenAnswer as PlainScreenAnswer,
  ScreenRow,
  SeedControl,
} from "./contract.ts";

export type * from "../../ui/frontend/types.ts";
export type { Link, Numeric } from "../../ui/frontend/views/types.ts";
export type * from "./contract.ts";

/** A model that a screen may run on. */
export interface CourseModel {
  name: string;
  title: string;
  /** The requirements of screens that the model meets. */
  suits: string[];
  /** The numbers of its layers and heads. */
  parts: Record<string, number>;
}

/** The content of a link: a chapter, the current screen, and the changed inputs, encoded like a query. */
export interface CourseChoice {
  chapter: string;
  screen: string;
  course_inputs: string;
}

/** The data from Streamlit. */
export interface CourseData {
  api: string;
  /** The prefix of the addresses of pages. */
  pages: string;
  state: CourseChoice;
  models: CourseModel[];
  device: string;
  serial: number;
  presenter: string;
  /** "1" within another page, which asks its own questions: only one screen, shown at once. */
  embedded: string;
}

export type Control = ScreenRow["controls"][number];
export type RangeControl = NumberControl | SeedControl | PartControl;

/** The answer of a screen: a row is a `Row` of `headlight.views.rows`. */
export type ScreenAnswer = Omit<PlainScreenAnswer, "rows"> & { rows: ViewRow[] };
