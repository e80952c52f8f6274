// What the Generate page gets from Python and sends back.

/** Whose tokens an attention's keys are. */
export type Axis = "text" | "source";

/** Whether tokens are written at the end of the text, or into its masks. */
export type Mode = "continue" | "fill";

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

/** How a token is drawn; top-k 0 and top-p 1 leave every token. */
export interface SamplingConfig {
  temperature: number;
  top_k: number;
  top_p: number;
  seed: number;
}

/** What is asked, and which attention is shown. */
export interface ReportedChoice {
  masked_positions: number[];
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
  mode: Mode;
  settings: Settings;
  choice: Choice;
  sampling: SamplingConfig;
  /** Whether keys and values are cached from step to step. */
  useCache: boolean;
}

export interface Example {
  text: string;
  source: string;
}

/** What Streamlit says. */
export interface GenerateData {
  api: string;
  mode: Mode;
  state: ReportedChoice;
  sampling: SamplingConfig;
  /** Positions and token ids. */
  generated: [number, number][];
  settings: Settings;
  examples: Example[];
  has_source: boolean;
  presenter: string;
  /** Whether the server has what it needs to write PDF. */
  writes_pdf: boolean;
  serial: number;
}

/** A token that was generated. */
export interface GeneratedToken {
  position: number;
  id: number;
  text: string;
}

/** A token of the text as read; `space_before`: there is a space before it that its text does not have. */
export interface TextToken {
  text: string;
  special: boolean;
  space_before: boolean;
}

/** A token of the text as shown; `step` generated it, null: it is the prompt's. */
export interface ShownToken extends TextToken {
  step: number | null;
}

/** A token that may come next: its probability by the model, and after the sampling settings. */
export interface Candidate {
  id: number;
  text: string;
  probability: number;
  sampling_probability: number;
}

/** One kind of attention: rows of the asking token are in the numbers from `offset` on, [layer head key]. */
export interface StepAttentionGroup {
  name: string;
  title: string;
  layers: number;
  heads: number;
  keys: Axis;
  columns: number;
  offset: number;
}

/** What one layer holds: for each token a key and a value in each of its key/value heads; `element_size` is in bytes. */
export interface CachedLayer {
  tokens: number;
  key_value_heads: number;
  key_dim: number;
  value_dim: number;
  element_size: number;
  bytes: number;
}

/** Without layers, `reason` says why nothing can be cached. */
export interface KvCache {
  layers: CachedLayer[];
  heads: number;
  reason: string;
}

export interface ReadTokens {
  text: TextToken[];
  source: TextToken[] | null;
}

/** The answer to "what comes next": the route "generate". */
export interface StepAnswer {
  done?: undefined;
  position: number;
  chosen: number;
  candidates: Candidate[];
  /** How many tokens of the vocabulary the sampling settings leave. */
  kept_count: number;
  vocabulary: number;
  rank: number;
  /** The random number, from 0 to 1, that chose. */
  random_number: number;
  /** Of the model's probabilities, in bits. */
  entropy: number;
  attention_groups: StepAttentionGroup[];
  cache: KvCache;
  /** How many tokens were read anew. */
  tokens_read: number;
  length: number;
  context: number;
  end_token: number | null;
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
  generated: GeneratedToken[];
  from: number;
}
