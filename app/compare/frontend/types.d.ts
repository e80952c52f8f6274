// What the Compare page gets from Python and sends back.

import type { MaskArguments } from "../../ui/frontend/mask_spec.js";

/** Whose tokens an attention's queries or keys are. */
export type Axis = "text" | "source";

/** A token, or anything else that stands at one position: `text` has its white space. */
export interface Token {
  text: string;
  special: boolean;
  masked: boolean;
}

/** How the model is changed and run. */
export interface Settings {
  model: string;
  masks: string;
  positional_encoding: string;
  attention_function: string;
  scale: string;
  pooling: string;
  device: string;
}

/** The part of a question that belongs to one text. */
export interface TextChoice {
  text: string;
  source: string;
  edits: string[];
  /** Positions. */
  masked_positions: number[];
}

export type Question = Settings & TextChoice;
export type QuestionField = keyof Question;
export type VariantField = "masks" | "positional_encoding" | "attention_function" | "scale" | "pooling";

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
  /** How tokens are matched; without it the server chooses. */
  alignment?: string;
  /** A head of B's own. */
  layer?: number;
  head?: number;
  /** "1" once a person has chosen a head. */
  head_chosen?: string;
}

/** What a model was trained with; `has_source` where it has an encoder that reads a text of its own. */
export type TrainedParts = Partial<Record<VariantField, string>> & { has_source?: boolean };

/** Values and titles. */
export type Options = [string, string][];

/** What there is to choose from. */
export interface Catalog {
  /** `kind` is what all models like it do, `purpose` what this one does; `trained_models`: by positional encoding, the model that was trained with it and is else alike. */
  models: {
    name: string;
    title: string;
    kind: string;
    purpose: string;
    trained: TrainedParts;
    trained_models: Record<string, string>;
  }[];
  options: Record<VariantField | "alignment", Options>;
  /** What can be exchanged, with its title. */
  fields: [VariantField, string][];
  mask_arguments: MaskArguments;
}

/** Something worth comparing; without a text, A keeps its own. */
export interface Preset {
  title: string;
  text: string | null;
  side_b: Difference;
}

/** What Streamlit says. */
export interface CompareData extends Catalog {
  api: string;
  state: Choice;
  side_b: Difference;
  settings: Settings;
  presets: Preset[];
  presenter: string;
  /** Whether the server has what it needs to write PDF. */
  writes_pdf: boolean;
  serial: number;
}

/** One kind of attention of one side: its heads are in the bytes from `offset` on, [layer head row column] of `pooled_shape`. */
export interface AttentionGroup {
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
  pooled_shape: [number, number];
  offset: number;
  /** The heads, as layer and head, that each edit of the question switches off. */
  ablations?: Record<string, [number, number][]>;
}

export interface SideAnswer {
  tokens: Token[];
  source_tokens: Token[] | null;
  attention_groups: AttentionGroup[];
  context: number;
  notes: string[];
}

/** Corresponding positions in A and B. */
export type PositionPair = [number, number];

/** Two attentions that are compared: their names in A and B, and the distance of each head, [layer][head]. */
export interface ComparedAttention {
  left_name: string;
  right_name: string;
  title: string;
  distance: (number | null)[][];
}

/** A candidate's probability in A (left) and in B (right); null where that side cannot predict it. */
export interface PredictionCandidate {
  text: string;
  left: number | null;
  right: number | null;
}

/** What both sides predict at corresponding positions; `distance` is the Jensen-Shannon distance. */
export interface Prediction {
  titles: [string, string];
  /** In front of each side's token, such as "after ". */
  /** Of each side the words in front of a token, and the token: null where the answer is about the whole text. */
  places: [[string, string | null], [string, string | null]];
  positions: [number, number];
  distance: number;
  candidates: PredictionCandidate[];
}

/** The answer of the route "compare". */
export interface CompareAnswer {
  sides: [SideAnswer, SideAnswer];
  /** How tokens were matched. */
  alignment: string;
  alignments: Partial<Record<Axis, PositionPair[]>>;
  attentions: ComparedAttention[];
  predictions: Prediction[];
  milliseconds: number;
  error?: string;
  superseded?: boolean;
}

export interface CompareRequest {
  side_a: Question;
  side_b: Question;
  /** "": as the server chooses. */
  alignment: string;
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
