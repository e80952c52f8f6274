// What the Generate page works on; what the server says is in the contracts.

import type { Question, Sampling, State } from "../../ui/frontend/contract.js";
import type { SharedState } from "../../ui/frontend/export/types.js";
import type { GeneratePageAnswer, GenerateReport, ReadTokens, StepAnswer, TextToken } from "./contract.js";

export type * from "../../ui/frontend/types.js";
export type * from "./contract.js";

/** Whose tokens an attention's keys are. */
export type Axis = "text" | "source";

/** Whether tokens are written at the end of the text, or into its masks. */
export type Mode = "continue" | "fill";

/** How the model is changed and run. */
export type Settings = Pick<Question, "model" | "variant" | "device" | "measure">;

/** What is asked, and which attention is shown. */
export interface Choice
  extends Pick<Question, "text" | "source" | "image" | "edits" | "patch_from" | "masked_positions"> {
  attention: string;
  layer: number;
  head: number;
  /** Whose attention is shown: that of the chosen head, or the mean over its layer's heads, or over all. */
  blend: State["blend"];
}

export interface GenerateState {
  mode: Mode;
  settings: Settings;
  choice: Choice;
  sampling: Sampling;
  /** Whether keys and values are cached from step to step. */
  useCache: boolean;
}

/** What Streamlit says. */
export interface GenerateData
  extends Pick<GeneratePageAnswer, "examples" | "languages" | "images" | "writes_pdf">,
    Pick<GenerateReport, "sampling" | "generated"> {
  api: string;
  mode: Mode;
  state: Choice;
  settings: Settings;
  has_source: boolean;
  /** Whether images are recordings. */
  hears: boolean;
  presenter: string;
  serial: number;
  shared: SharedState;
}

/** A token that was generated. */
export interface GeneratedToken {
  position: number;
  id: number;
  text: string;
}

/** What the page shows of a token. */
export type PageToken = Pick<TextToken, "text" | "special" | "space_before">;

/** A token of the text as shown; `step` generated it, null: it is the prompt's. */
export interface ShownToken extends PageToken {
  step: number | null;
}

/** A step that is here, with its attention weights and how it was sampled. */
export interface StepRecord extends StepAnswer {
  done?: undefined;
  tokens: ReadTokens | null;
  numbers: Float32Array;
  sampling: Sampling;
}

/** All masks are filled. */
export interface FinishedRecord {
  done: true;
  tokens: ReadTokens | null;
  notes?: undefined;
}

export type AnyRecord = StepRecord | FinishedRecord;

/** A line that was left: the first token that differs is number `from`. */
export interface Branch {
  generated: GeneratedToken[];
  from: number;
}
