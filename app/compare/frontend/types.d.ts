// What the Compare page gets from Python and sends back.

/** Whose tokens an attention's queries or keys are. */
export type Axis = "text" | "source";

/** A token, or anything else that stands at one position: `piece` is its text with white space. */
export interface Token {
  piece: string;
  special: boolean;
  masked: boolean;
}

/** How the model is changed and run. */
export interface Settings {
  model: string;
  masks: string;
  position: string;
  kernel: string;
  scale: string;
  device: string;
}

/** The part of a question that belongs to one text. */
export interface TextChoice {
  text: string;
  source: string;
  edits: string[];
  /** Positions. */
  masked: number[];
}

export type Question = Settings & TextChoice;
export type QuestionField = keyof Question;
export type VariantField = "masks" | "position" | "kernel" | "scale";

/** What is chosen for side A, and for both. */
export interface Choice extends TextChoice {
  /** An attention's name, or "" for the first. */
  attention: string;
  layer: number;
  head: number;
  /** A position in A, or -1 for the last. */
  query: number;
}

/** In what B differs from A. */
export interface Difference extends Partial<Question> {
  /** "position" where tokens are matched by position. */
  align?: string;
  /** A head of B's own. */
  layer?: number;
  head?: number;
  /** "1" once a person has chosen a head. */
  chosen?: string;
}

/** What a model was trained with; `sourced` where it has an encoder that reads a text of its own. */
export type TrainedParts = Partial<Record<VariantField, string>> & { sourced?: boolean };

/** Values and titles. */
export type Options = [string, string][];

/** What there is to choose from. */
export interface Catalog {
  models: { name: string; title: string; trained: TrainedParts }[];
  options: Record<VariantField, Options>;
}

/** Something worth comparing; without a text, A keeps its own. */
export interface Preset {
  title: string;
  text: string | null;
  other: Difference;
}

/** What Streamlit says. */
export interface CompareData extends Catalog {
  api: string;
  choice: Choice;
  other: Difference;
  settings: Settings;
  presets: Preset[];
  presenter: string;
  serial: number;
}

/** One kind of attention of one side: its heads are in the bytes from `offset` on, [layer head row column] of `cells`. */
export interface AttentionGrid {
  name: string;
  title: string;
  stack: string;
  kind: string;
  layers: number;
  heads: number;
  queries: Axis;
  keys: Axis;
  rows: number;
  columns: number;
  cells: [number, number];
  offset: number;
}

export interface SideAnswer {
  tokens: Token[];
  sourceTokens: Token[] | null;
  grids: AttentionGrid[];
  context: number;
  notes: string[];
}

/** Corresponding positions in A and B. */
export type PositionPair = [number, number];

/** Two attentions that are compared: their names in A and B, and the distance of each head, [layer][head]. */
export interface ComparedAttention {
  name: string;
  other: string;
  title: string;
  distance: (number | null)[][];
}

/** A candidate's share in A and in B; null where that side cannot predict it. */
export interface PredictionCandidate {
  piece: string;
  before: number | null;
  after: number | null;
}

/** What both sides predict at corresponding positions; `apart` is a Jensen-Shannon distance. */
export interface Prediction {
  titles: [string, string];
  places: [number, number];
  pieces: [string, string];
  apart: number;
  candidates: PredictionCandidate[];
}

/** The answer of the route "compare". */
export interface CompareAnswer {
  sides: [SideAnswer, SideAnswer];
  pairs: Partial<Record<Axis, PositionPair[]>>;
  attentions: ComparedAttention[];
  predictions: Prediction[];
  milliseconds: number;
  error?: string;
  superseded?: boolean;
}

export interface CompareRequest {
  left: Question;
  right: Question;
  align: string;
  query: number;
}

/** A head by its numbers. */
export interface HeadIndex {
  layer: number;
  head: number;
}

/** A cell of an attention map on one side. */
export interface Cell {
  side: number;
  query: number;
  key: number | null;
}

/** A query, and perhaps a key, of one side. */
export interface QueryKey {
  query: number | null;
  key: number | null;
}
