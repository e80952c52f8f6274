// What the Generate page gets from Python and sends back.

/** Whose tokens an attention's keys are. */
export type Axis = "text" | "source";

/** Whether tokens are written at the end of the text, or into its masks. */
export type Kind = "continue" | "fill";

/** How the model is changed and run. */
export interface Settings {
  model: string;
  masks: string;
  position: string;
  kernel: string;
  scale: string;
  device: string;
}

/** How a token is drawn; top-k 0 and top-p 1 leave every token. */
export interface SamplingConfig {
  temperature: number;
  topK: number;
  topP: number;
  seed: number;
}

/** What is asked, and which attention is shown. */
export interface ReportedChoice {
  masked: number[];
  edits: string[];
  attention: string;
  layer: number;
  head: number;
  text: string;
  source: string;
}

/** Whose attention is shown: that of the chosen head, or the mean over its layer's heads, or over all. */
export type Blend = "head" | "layer" | "all";

export interface Choice extends ReportedChoice {
  blend: Blend;
}

export interface GenerateState {
  kind: Kind;
  settings: Settings;
  choice: Choice;
  sampling: SamplingConfig;
  /** Whether keys and values are cached from step to step. */
  cached: boolean;
}

export interface Example {
  text: string;
  source: string;
}

/** What Streamlit says. */
export interface GenerateData {
  api: string;
  kind: Kind;
  choice: ReportedChoice;
  rule: SamplingConfig;
  /** Positions and token ids. */
  written: [number, number][];
  settings: Settings;
  examples: Example[];
  sourced: boolean;
  presenter: string;
  serial: number;
}

/** A token that was written. */
export interface WrittenToken {
  place: number;
  id: number;
  piece: string;
}

/** A token of the text as read; `gap`: a space before it that its piece does not have. */
export interface TextToken {
  piece: string;
  special: boolean;
  gap: boolean;
}

/** A token of the text as shown; `step` wrote it, null: it is the prompt's. */
export interface ShownToken extends TextToken {
  step: number | null;
}

/** A token that may come next: its probability by the model, and after the sampling settings. */
export interface Candidate {
  id: number;
  piece: string;
  before: number;
  after: number;
}

/** One kind of attention: rows of the asking token are in the numbers from `offset` on, [layer head key]. */
export interface StepGrid {
  name: string;
  title: string;
  layers: number;
  heads: number;
  keys: Axis;
  columns: number;
  offset: number;
}

/** What one layer holds: `positions` tokens, for each a key and a value in `heads` heads, numbers of `width` bytes. */
export interface CachedLayer {
  positions: number;
  heads: number;
  key_channels: number;
  value_channels: number;
  width: number;
  bytes: number;
}

/** Without layers, `why` says why nothing can be cached. */
export interface KvCache {
  layers: CachedLayer[];
  heads: number;
  why: string;
}

export interface ReadTokens {
  text: TextToken[];
  source: TextToken[] | null;
}

/** The answer to "what comes next": the route "generate". */
export interface StepAnswer {
  done?: undefined;
  place: number;
  chosen: number;
  candidates: Candidate[];
  /** How many tokens of the vocabulary the sampling settings leave. */
  kept: number;
  vocabulary: number;
  rank: number;
  /** The random number, from 0 to 1, that chose. */
  number: number;
  /** Entropy, in bits. */
  spread: number;
  grids: StepGrid[];
  cache: KvCache;
  /** How many tokens were read anew. */
  read: number;
  length: number;
  context: number;
  end: number | null;
  notes: string[];
  tokens: ReadTokens | null;
  milliseconds: number;
}

/** All masks are filled. */
export interface FinishedAnswer {
  done: true;
  tokens: ReadTokens;
  notes?: undefined;
}

/** An answer of the route, as it travels. */
export type GenerateAnswer = (StepAnswer | FinishedAnswer) & { error?: string; superseded?: boolean };

/** An answer that is here, with its attention weights and how it was sampled. */
export type StepRecord = StepAnswer & { numbers: Float32Array; sampling: SamplingConfig };
export type FinishedRecord = FinishedAnswer & { numbers: Float32Array; sampling: SamplingConfig };
export type AnyRecord = StepRecord | FinishedRecord;

/** A line that was left: the first token that differs is number `from`. */
export interface Branch {
  written: WrittenToken[];
  from: number;
}
