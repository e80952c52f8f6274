// Written from headlight_app/generate/contract.py by app/contract_types.py.

import type {
  AttentionGroupAnswer,
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

/** One step: the `chosen` token, and rows of views as in `headlight.views`, passed on unchanged. */
export interface StepAnswer {
  position: number;
  chosen: number;
  chosen_text: string;
  rows: Record<string, unknown>[];
  cache_rows: Record<string, unknown>[];
  caches: boolean;
  attention_groups: AttentionGroupAnswer[];
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

/** Where a token comes from: its text, and rows of views as in `headlight.views`, passed on unchanged. */
export interface CopyingAnswer {
  text: string;
  rows: Record<string, unknown>[];
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
