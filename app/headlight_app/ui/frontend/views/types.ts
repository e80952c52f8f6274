// The kinds of views, as model/headlight/views describes them, and what surrounds them on a page.

import type { ScreenLink } from "../../../course/frontend/contract.ts";
import type { ModelDiagramAnswer, Question } from "../contract.ts";
import type { SharedState } from "../export/types.ts";

/** A number in an answer: infinite ones and NaN are words that Number() parses. */
export type Numeric = number | string;

/** The fields of the choice that a click changes, and their values; `toggle_edits` are made, or removed if all are there. */
export type Pick = Record<string, string | number | string[] | number[]> & { toggle_edits?: string[] };

/** Numbers to be saved: the labels of each axis by its name. */
interface NumberTable {
  axes: Record<string, string[]>;
  values: unknown[];
}

interface CommonView {
  title: string;
  note: string;
  before: string;
  /** The numbers that are saved, by their titles; null: those that are shown. */
  tables: Record<string, NumberTable> | null;
}
export interface MatrixView extends CommonView {
  kind: "matrix";
  values: Numeric[][];
  rows: string[];
  columns: string[];
  row_axis: string;
  column_axis: string;
  colours: "signed" | "weights" | "shares" | "sequential" | "none" | "groups";
  unit: string;
  scaled_by: "all" | "row";
  least_scale: number;
  row_sums: boolean;
  row_numbers: Record<string, Numeric[]>;
  marked: [number, number][];
  crossed: boolean[][] | null;
  digits: number | null;
  texts: string[][];
  cell_notes: string[][];
  titles: string[][];
  details: string[][];
  row_notes: string[];
  picks: Pick[][];
  row_picks: Pick[];
  column_picks: Pick[];
}
export interface HeatMapView extends CommonView {
  kind: "heat_map";
  values: Numeric[][];
  rows: string[];
  columns: string[];
  row_axis: string;
  column_axis: string;
  colours: "signed" | "weights" | "sequential";
  low: number;
  /** null: the largest number. */
  high: number | null;
  row_groups: number;
  column_groups: number;
  is_small: boolean;
}
export interface MovingPointsView extends CommonView {
  kind: "moving_points";
  labels: string[];
  frames: Numeric[][][];
  names: string[];
  groups: number[];
  group_titles: string[];
}
export interface BarsView extends CommonView {
  kind: "bars";
  labels: string[];
  series: Record<string, Numeric[]>;
  compared: string;
  is_compact: boolean;
  high: number | null;
  digits: number | null;
  as_percent: boolean;
  is_signed: boolean;
  missing: string;
  texts: string[];
  picks: Pick[];
  chosen_as: string;
  action: string;
  marked: number | null;
  marked_as: string;
}
export interface ChangesView extends CommonView {
  kind: "changes";
  parts: [name: string, number: Numeric][];
  start: [name: string, number: Numeric] | null;
  end: [name: string, number: Numeric] | null;
  picks: Pick[];
  marked: number | null;
}
export interface LinesView extends CommonView {
  kind: "lines";
  x: Numeric[];
  series: Record<string, Numeric[]>;
  x_title: string;
  y_title: string;
  series_title: string;
  x_labels: string[];
  broken: string[];
  strong: string[];
  log_x: boolean;
  log_y: boolean;
  from_zero: boolean;
}
export interface ArrowsView extends CommonView {
  kind: "arrows";
  arrows: { label: string; x: number; y: number; group: number; shade: number }[];
  groups: string[];
}
export interface PointsView extends CommonView {
  kind: "points";
  points: [label: string, x: number, y: number, group: number][];
  groups: string[];
  x_title: string;
  y_title: string;
}
export interface TokensView extends CommonView {
  kind: "tokens";
  tokens: string[];
  shades: number[];
  labels: string[];
  below: string[];
  groups: number[];
  group_titles: string[];
  details: string[];
  places: TokenPlace[];
  picks: Pick[];
  as_text: boolean;
}
/** The place of a node's parent in the step before, and its text. */
export type TreeNode = [parent: number, text: string];
export interface TreeView extends CommonView {
  kind: "tree";
  steps: TreeNode[][];
}
export interface TableView extends CommonView {
  kind: "table";
  columns: string[];
  rows: Numeric[][];
  digits: number;
  /** The web addresses of the last cells of the rows; empty, or "" for a row without one. */
  addresses: string[];
  picks: Pick[];
  marked: number | null;
  marked_as: string;
}
export interface ModelDiagramView extends CommonView {
  kind: "model_diagram";
  diagram: ModelDiagramAnswer;
  /** Whether its parts link to Explore, with the parameters of the screen's link. */
  enterable: boolean;
}
export interface ClaimsView extends CommonView {
  kind: "claims";
  claims: { said: string; right: string; links: ScreenLink[] }[];
}
export interface ImageView extends CommonView {
  kind: "image";
  source: string;
  rows: number;
  columns: number;
  shades: [name: string, numbers: Numeric[]][];
  marked: number[];
  places: TokenPlace[];
  picks: Pick[];
}
export interface SpansView extends CommonView {
  kind: "spans";
  labels: string[];
  spans: [from: Numeric, to: Numeric][];
  high: number;
  unit: string;
  places: TokenPlace[];
  picks: Pick[];
}
export interface StripsView extends CommonView {
  kind: "strips";
  labels: string[];
  parts: [length: Numeric, group: number][][];
  high: number;
  ends: [first: string, last: string];
  at: number | null;
  group_titles: string[];
  heights: number[];
}
export interface AlignmentView extends CommonView {
  kind: "alignment";
  read: string[];
  answer: string[];
  weights: Numeric[][];
  verb: string;
  lines: boolean;
  notes: string[];
  wrong: number[];
  written: number | null;
  read_places: TokenPlace[];
  places: TokenPlace[];
  picks: Pick[];
}
export interface GraphView extends CommonView {
  kind: "graph";
  nodes: string[];
  places: Numeric[][];
  edges: [number, number][];
  shades: Numeric[];
  marked: number | null;
}
export interface SoundView extends CommonView {
  kind: "sound";
  source: string;
}
export interface FileView extends CommonView {
  kind: "file";
  file_name: string;
  media_type: string;
  text: string;
}
export interface ChoiceView extends CommonView {
  kind: "choice";
  options: string[];
  picks: Pick[];
  form: "buttons" | "actions" | "select" | "slider" | "steps" | "toggles";
  /** The place of the chosen option; of toggles, those of all that are chosen. */
  chosen: number | number[] | null;
}
export interface InputView extends CommonView {
  kind: "input";
  field: string;
  text: string;
  placeholder: string;
  live: boolean;
}
export interface EquationsView extends CommonView {
  kind: "equations";
  lines: string[];
}
export interface VerdictView extends CommonView {
  kind: "verdict";
  text: string;
  good: boolean | null;
}
export type View =
  | MatrixView
  | HeatMapView
  | MovingPointsView
  | BarsView
  | ChangesView
  | LinesView
  | ArrowsView
  | PointsView
  | TokensView
  | AlignmentView
  | SpansView
  | StripsView
  | TreeView
  | TableView
  | ModelDiagramView
  | ClaimsView
  | ImageView
  | GraphView
  | FlowView
  | SoundView
  | FileView
  | ChoiceView
  | InputView
  | EquationsView
  | VerdictView;

/** The models, as trained, that numbers are from; `words` say how they were measured, `brief` says it in a figure. */
export interface Origin {
  models: string[];
  words: string;
  brief: string;
}

export interface ViewRow {
  /** Hidden until its heading is opened. */
  folded: boolean;
  views: View[];
  title: string;
  text: string;
  /** If it is not about the page's own run. */
  origin?: Origin | null;
}

/** The data of a page of views from Streamlit; `state` are the fields that its views read. */
export interface ViewsPageData {
  api: string;
  page: string;
  question: Question;
  state: Record<string, unknown>;
  serial: number;
  presenter: string;
  shared: SharedState;
}

/** The parameters of a link to Explore, if a screen has one. */
export type Link = Record<string, string> | null;

export type LinkTo = (link: ScreenLink) => HTMLAnchorElement;

/** What a click on a part of a view does on a page, and whether the part is the chosen one. */
export interface Picks {
  choose(pick: Pick): void;
  isChosen(pick: Pick): boolean;
  /** What the page is about: steps that are taken by themselves stop if it changes. */
  subject?(): string;
}

/** A token of the text or of the source. */
export type TokenPlace = [side: "text" | "source", position: number];
export type FlowEdge = [
  kind: string,
  row: number,
  source: number,
  target: number,
  share: Numeric,
  note: string,
  pick: Pick,
];
export interface FlowView extends CommonView {
  kind: "flow";
  columns: string[];
  rows: string[];
  tokens: TokenPlace[];
  kinds: Record<string, { form: "line" | "second line" | "stream" | "square" | "second square"; words: string }>;
  edges: FlowEdge[];
  end: number;
  end_text: string;
}

/** What surrounds views: the width in pixels, the links from their parts to other screens and to Explore, and picks. */
export interface Surroundings {
  width: number;
  /** Whether they are a whole page, with headings, and each chart in a panel of its own. */
  isPage?: boolean;
  linkTo?: LinkTo;
  explore?: Link;
  picks?: Picks;
  /** Marks two tokens that a part of a view is about, or those of the page again. */
  mark?: (query: TokenPlace | null, key?: TokenPlace) => void;
}
