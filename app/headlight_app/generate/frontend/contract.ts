// Written from headlight_app/generate/contract.py by app/contract_types.py.

import type {
  AttentionGroupAnswer,
  Candidate,
  ExampleAnswer,
  QuestionRequest,
  Sampling,
  Token,
} from "../../ui/frontend/contract.ts";

/** A token of the text as read; `space_before`: a space precedes it that is not in the token's text. */
export interface TextToken extends Token {
  space_before: boolean;
}

/** The tokens that the model has read. */
export interface ReadTokens {
  text: TextToken[];
  source: TextToken[] | null;
}

/** The cache of one layer for each token: a key and a value in each of its key/value heads; sizes are in bytes. */
export interface CachedLayer {
  tokens: number;
  key_value_heads: number;
  key_dim: number;
  value_dim: number;
  element_size: number;
  bytes: number;
}

/** The key/value cache, and the number of query heads. Without layers, `reason` says why nothing is cached. */
export interface KvCache {
  layers: CachedLayer[];
  model_layers: number;
  heads: number;
  reason: string;
}

/** One step: candidates before and after the sampling settings, and the `chosen` token with its `rank`. */
export interface StepAnswer {
  position: number;
  chosen: number;
  candidates: Candidate[];
  kept_count: number;
  vocabulary: number;
  rank: number;
  random_number: number;
  entropy: number;
  attention_groups: AttentionGroupAnswer[];
  cache: KvCache;
  tokens_read: number;
  length: number;
  context: number;
  end_tokens: number[];
  notes: string[];
  milliseconds: number;
}

/** The next step, or None once all masks are filled; and the tokens of the text if requested. */
export interface GenerateAnswer {
  step: StepAnswer | null;
  tokens: ReadTokens | null;
}

/** The step after those in `generated`; with `use_cache`, only tokens that are not cached are read. */
export interface GenerateRequest extends QuestionRequest {
  sampling?: Partial<Sampling>;
  generated?: [number, number][];
  use_cache?: boolean;
  with_tokens?: boolean;
}

/** A head that copies from an earlier occurrence of a token: its weight, and its addition to the token's logit. */
export interface CopyingHead {
  path: string;
  head: number;
  key: number;
  weight: number;
  logit: number;
}

/** A passage of the prompt: its text, the prompt `without` it, and the logits `copied` and `moved` from it. */
export interface PassageAnswer {
  text: string;
  without: string | null;
  copied: number;
  moved: number;
}

/** Where a token comes from: the heads that copied it from its earlier `occurrences`, and the prompt's passages. */
export interface CopyingAnswer {
  text: string;
  occurrences: number[];
  heads: CopyingHead[];
  passages: PassageAnswer[];
  source: number | null;
  rest: number;
}

/** Where the `token` at `position`, which follows those in `generated`, comes from. */
export interface CopyingRequest extends QuestionRequest {
  generated?: [number, number][];
  position: number;
  token: number;
}

/** The component's report of its text; the generated tokens belong to this text and image only. */
export interface GenerateReport {
  text: string;
  source: string;
  image: string;
  chat: string;
  masked_positions: number[];
  sampling: Sampling;
  generated: [number, number][];
}

/** Examples, the first of which is shown until the visitor types, and the default head. */
export interface GeneratePageAnswer {
  examples: ExampleAnswer[];
  default_head: [number, number];
  languages: string[];
  images: string[];
  reads_chat: boolean;
}

/** The request and the answer of each route. */
export interface GenerateRoutes {
  generate: { request: GenerateRequest; answer: GenerateAnswer };
  copying: { request: CopyingRequest; answer: CopyingAnswer };
}
