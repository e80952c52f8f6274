// Data that the Course gets from Python besides the contract, and the pictures of model/headlight/course.

import type { ModelDiagramAnswer } from "../../ui/frontend/contract.js";
import type {
  NumberControl,
  PartControl,
  ScreenAnswer as PlainScreenAnswer,
  ScreenLink,
  ScreenRow,
  SeedControl,
} from "./contract.js";

export type * from "../../ui/frontend/types.js";
export type * from "./contract.js";

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

/** A number in an answer: infinite ones and NaN are words that Number() parses. */
export type Numeric = number | string;

interface CommonPicture {
  title: string;
  note: string;
  before: string;
}
export interface MatrixPicture extends CommonPicture {
  kind: "matrix";
  values: Numeric[][];
  rows: string[];
  columns: string[];
  row_axis: string;
  column_axis: string;
  colours: "signed" | "weights" | "none";
  row_sums: boolean;
  marked: [number, number][];
  crossed: boolean[][] | null;
  digits: number;
}
export interface HeatMapPicture extends CommonPicture {
  kind: "heat_map";
  values: Numeric[][];
  rows: string[];
  columns: string[];
  row_axis: string;
  column_axis: string;
  colours: "signed" | "weights" | "positive";
  row_groups: number;
  column_groups: number;
  is_small: boolean;
}
export interface MovingPointsPicture extends CommonPicture {
  kind: "moving_points";
  labels: string[];
  frames: Numeric[][][];
  names: string[];
  groups: number[];
  group_titles: string[];
}
export interface BarsPicture extends CommonPicture {
  kind: "bars";
  labels: string[];
  series: Record<string, Numeric[]>;
  high: number | null;
  digits: number;
}
export interface LinesPicture extends CommonPicture {
  kind: "lines";
  x: Numeric[];
  series: Record<string, Numeric[]>;
  x_title: string;
  y_title: string;
  broken: string[];
  log_x: boolean;
  log_y: boolean;
}
export interface ArrowsPicture extends CommonPicture {
  kind: "arrows";
  arrows: { label: string; x: number; y: number; group: number; shade: number }[];
  groups: string[];
}
export interface PointsPicture extends CommonPicture {
  kind: "points";
  points: [label: string, x: number, y: number, group: number][];
  groups: string[];
  x_title: string;
  y_title: string;
}
export interface TokensPicture extends CommonPicture {
  kind: "tokens";
  tokens: string[];
  shades: number[];
  below: string[];
}
export interface TablePicture extends CommonPicture {
  kind: "table";
  columns: string[];
  rows: Numeric[][];
  digits: number;
  /** The web addresses of the last cells of the rows; empty, or "" for a row without one. */
  addresses: string[];
}
export interface ModelDiagramPicture extends CommonPicture {
  kind: "model_diagram";
  diagram: ModelDiagramAnswer;
  /** Whether its parts link to Explore, with the parameters of the screen's link. */
  enterable: boolean;
}
export interface ClaimsPicture extends CommonPicture {
  kind: "claims";
  claims: { said: string; right: string; links: ScreenLink[] }[];
}
export interface ImagePicture extends CommonPicture {
  kind: "image";
  source: string;
  rows: number;
  columns: number;
  shades: Record<string, Numeric[]>;
  marked: number[];
}
export interface GraphPicture extends CommonPicture {
  kind: "graph";
  nodes: string[];
  places: Numeric[][];
  edges: [number, number][];
  shades: number[];
  marked: number | null;
}
export interface SoundPicture extends CommonPicture {
  kind: "sound";
  source: string;
}
export interface FilePicture extends CommonPicture {
  kind: "file";
  file_name: string;
  media_type: string;
  text: string;
}
export interface EquationsPicture extends CommonPicture {
  kind: "equations";
  lines: string[];
}
export interface VerdictPicture extends CommonPicture {
  kind: "verdict";
  text: string;
  good: boolean | null;
}
export type Picture =
  | MatrixPicture
  | HeatMapPicture
  | MovingPointsPicture
  | BarsPicture
  | LinesPicture
  | ArrowsPicture
  | PointsPicture
  | TokensPicture
  | TablePicture
  | ModelDiagramPicture
  | ClaimsPicture
  | ImagePicture
  | GraphPicture
  | SoundPicture
  | FilePicture
  | EquationsPicture
  | VerdictPicture;

export interface Row {
  /** Hidden until its heading is opened. */
  folded: boolean;
  pictures: Picture[];
  title: string;
  text: string;
}

/** The parameters of a link to Explore, if a screen has one. */
export type Link = Record<string, string> | null;

/** The answer of a screen: each row is one of `headlight.course.pictures`. */
export type ScreenAnswer = Omit<PlainScreenAnswer, "rows"> & { rows: Row[] };
