// What the Course gets from Python besides what the contract says, and the pictures of model/headlight/course.

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
  /** The requirements of screens that it meets. */
  suits: string[];
  /** How many layers and heads it has. */
  parts: Record<string, number>;
}

/** What a link holds: a chapter, the screen that is looked at, and what was changed, encoded as a query is. */
export interface CourseChoice {
  chapter: string;
  screen: string;
  course_inputs: string;
}

/** What Streamlit says. */
export interface CourseData {
  api: string;
  /** What stands before the names of pages in their addresses. */
  pages: string;
  state: CourseChoice;
  models: CourseModel[];
  device: string;
  serial: number;
  presenter: string;
  /** "1" within another page, which asks in its place: a screen is alone, and shown at once. */
  embedded: string;
}

export type Control = ScreenRow["controls"][number];
export type RangeControl = NumberControl | SeedControl | PartControl;

/** A number as it travels: what is not finite is a word, which Number() reads. */
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
  /** Where the last cell of each row leads in the web; none, or "" for a row. */
  addresses: string[];
}
export interface ModelDiagramPicture extends CommonPicture {
  kind: "model_diagram";
  diagram: ModelDiagramAnswer;
  /** Whether its parts lead to Explore, with what the screen's link says. */
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
  /** Seen once its heading is opened. */
  folded: boolean;
  pictures: Picture[];
  title: string;
  text: string;
}

/** The parameters of a link to Explore, where a screen has one. */
export type Link = Record<string, string> | null;

/** What a screen shows: each row is one of `headlight.course.pictures`. */
export type ScreenAnswer = Omit<PlainScreenAnswer, "rows"> & { rows: Row[] };
