// What the answers read besides the numbers of a run: the facts that Python writes (app/headlight_app/live/facts.py).

import type {
  HeadChoice,
  PartChoices,
  Prediction,
  Question,
  Sampling,
  Variant,
} from "../../../ui/frontend/contract.ts";
import type { BarsView, StripsView, ViewRow } from "../../../ui/frontend/views/types.ts";
import type { Engine } from "../engine/types.ts";
import type { Tokenizer } from "../tokenizer/types.ts";

/** An attention of the model, as `AttentionGroup` in Python. */
export interface GroupFacts {
  name: string;
  stack: string;
  kind: string;
  title: string;
  layers: number;
  heads: number;
  queries: "text" | "source";
  keys: "text" | "source";
  aligned: [number, number][];
}

/** A quantity of a head. `note` names the parts of the model that it ignores; `refusal` says why there is none. */
export interface QuantityFacts {
  title: string;
  description: string;
  signed: boolean;
  scale: "probability" | "sqrt" | "linear";
  additive: boolean;
  of_all_heads: boolean;
  note: string;
  refusal: string;
}

/** Of each step: its name, its formula, the symbols and axes of its values, and its paths, "@" for the layer. */
export type StepForm = readonly (readonly [
  string,
  string,
  readonly (readonly [string, string])[],
  readonly string[],
])[];

/** The steps of a head and of the prediction (app/headlight_app/live/step_forms.py). */
export interface StepFacts {
  steps: Record<string, { title: string; explanation: string; part: "head" | "network" | "prediction" }>;
  forms: StepForm[];
  /** The number of a form, by positional encoding, attention, and what edits add. */
  of: Record<string, Record<string, Record<string, number>>>;
  attentions: Record<string, { head_dim: number; group_size: number; soft_cap: number }>;
  /** How many of the likeliest answers the prediction shows. */
  answers: number;
  prediction: StepForm | null;
}

/** The rules of a checkpoint for generation, as `GenerationConfig` in Python. */
export interface GenerationRules {
  repetition_penalty: number;
  no_repeat_ngram_size: number;
  suppressed_token_ids: number[];
  first_suppressed_token_ids: number[];
  forced_first_token_id: number | null;
}

/** What Generate shows (app/headlight_app/live/generation_facts.py): forms of its rows and views, and its words. */
export interface GenerationFacts {
  rules: GenerationRules;
  /** Each ends a text. */
  end_tokens: number[];
  sampling: Sampling;
  /** How many candidates are shown, and the names of their two numbers. */
  candidates: number;
  series: [string, string];
  greedy: string;
  row: ViewRow;
  bars: BarsView;
  strips: StripsView;
}

/** The limits of what is read and computed at once. */
interface Limits {
  characters: number;
  prefix_characters: number;
  characters_per_token: number;
  cut_characters: number;
  weights_bytes: number;
  metric_cells: number;
  loss_products: number;
  view_cells: number;
  edit_magnitude: number;
}

/** Everything known about the model besides its numbers. */
export interface ModelFacts {
  /** A question without a text, with the defaults of all others. */
  question: Question;
  /** The choices about heads before any was made. */
  choice: HeadChoice;
  context: number;
  vocabulary_size: number;
  d_model: number;
  groups: GroupFacts[];
  has_sinks: boolean;
  has_residual: boolean;
  recurrence_note: string;
  /** Its parts, and what can stand in their places. */
  trained: Variant;
  parts: Record<keyof Variant, PartChoices>;
  masks: Record<string, { title: string; control: "" | "number" | "cells"; inverts: boolean }>;
  reads_pair: boolean;
  reads_chat: boolean;
  reads_segments: boolean;
  pools: boolean;
  task: {
    predicts: boolean;
    predicts_labels: boolean;
    whole_text: boolean;
    fills_masks: boolean;
    continues_text: boolean;
    prediction_title: string;
    preposition: string;
    no_prediction: string;
  };
  /** Null for a model that writes nothing. */
  generation: GenerationFacts | null;
  labels: string[];
  problem_type: {
    name: NonNullable<Prediction["problem_type"]>;
    lesson: string;
    has_scores: boolean;
    is_probability: boolean;
  };
  tokenizer: { special_ids: number[]; unknown_id: number | null; end_token: string; longest_token: number };
  hook_points: Record<string, { axes: string[]; title: string }>;
  operations: Record<string, { takes_number: boolean; hook_points: string[] }>;
  matrix_hook_points: string[];
  /** Paths by the names of TransformerLens, and whether their first two axes are swapped. */
  transformer_lens: Record<string, [string, boolean]>;
  metrics: string[];
  /** Null for a model whose steps need more than the values of a run. */
  steps: StepFacts | null;
  quantities: Record<string, QuantityFacts>;
  hidden_token_titles: Record<string, string>;
  nowhere: string;
  max_thumbnail_side: number;
  max_candidates: number;
  limits: Limits;
  sentences: { not_finite: string; overflow: string; edit_syntax: string };
}

export interface Model {
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  readonly facts: ModelFacts;
}

/** The JSON part of an answer, and its numbers. */
export interface Reply<Meta extends object = object> {
  readonly meta: Meta;
  readonly numbers: Uint8Array;
}
