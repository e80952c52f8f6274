// The Compare page's own types; the server's answers are in the contracts.

import type { Difference, Question, Variant } from "../../ui/frontend/contract.ts";
import type { SharedState } from "../../ui/frontend/export/types.ts";
import type { ComparePageAnswer, ModelRow } from "./contract.ts";

export type * from "../../ui/frontend/types.ts";
export type * from "./contract.ts";

/** The text whose tokens are an attention's queries or keys. */
export type Axis = "text" | "source";

/** How the model is modified and run. */
export type Settings = Pick<Question, "model" | "image" | "text_pair" | "chat" | "variant" | "device" | "measure">;

/** The part of a question that belongs to one text. */
type TextChoice = Pick<Question, "text" | "source" | "edits" | "patch_from" | "masked_positions">;

export type VariantField = keyof Variant;

/** The choices for side A, and for both. */
export interface Choice extends TextChoice {
  /** An attention's name, or "" for the first. */
  attention: string;
  layer: number;
  head: number;
  /** A position in A, or -1 for the last. */
  query: number;
}

/** The available choices. */
export interface Catalog extends Pick<ComparePageAnswer, "parts" | "alignments" | "mask_arguments"> {
  models: ModelRow[];
}

/** The data from Streamlit. */
export interface CompareData extends Catalog, Pick<ComparePageAnswer, "presets"> {
  api: string;
  state: Choice;
  side_b: Difference;
  settings: Settings;
  presenter: string;
  serial: number;
  shared: SharedState;
}

/** Values and titles. */
export type Options = [string, string][];

/** Corresponding positions in A and B. */
export type PositionPair = [number, number];

/** A head by its layer and index. */
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
