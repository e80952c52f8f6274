// Written from headlight_app/tasks/contract.py by app/contract_types.py.

import type { ExplorePageAnswer } from "../../explore/frontend/contract.js";
import type { AnswerNumbers, Candidate, QuestionRequest } from "../../ui/frontend/contract.js";

/** A way to make one vector of all tokens. */
export interface PoolingRow {
  name: string;
  title: string;
}

/** Explore's own data, the poolings, and the pooling that the model was trained with. */
export interface TasksPageAnswer extends ExplorePageAnswer {
  poolings: PoolingRow[];
  trained_pooling: string;
}

/** The likeliest labels of each token, the likeliest ones `as_trained`, and the names of all labels. */
export interface TokenLabelsAnswer extends AnswerNumbers {
  labels: Candidate[][];
  as_trained: string[];
  changed: boolean;
  names: string[];
}

/** The likeliest labels of each token; all labels if `every_label`. */
export interface TokenLabelsRequest extends QuestionRequest {
  every_label?: boolean;
}

/** A label, and the `positions` of the tokens that were left out. */
export interface LabelEffectsAnswer extends AnswerNumbers {
  label: number;
  text: string;
  positions: number[];
  layers: number;
  heads: number;
}

/** The tokens that support a label of the whole text; a `token` of -1 is the likeliest label. */
export interface LabelEffectsRequest extends QuestionRequest {
  token?: number;
}

/** A request about two sentences: the text of the question, and another one, read with the same edits. */
export interface SimilarityRequest extends QuestionRequest {
  other_text: string;
}

/** The tokens of both sentences, and the cosine of their vectors; float32 numbers follow, which sum to the cosine. */
export interface SentenceSimilarityAnswer {
  tokens: string[];
  other_tokens: string[];
  cosine: number;
  pooling: string;
  normalized: boolean;
  is_told: boolean;
}

/** The similarity of two sentences, and the contribution of each pair of tokens. */
export type SentenceSimilarityRequest = SimilarityRequest;

/** The cosine with all heads; float32 numbers follow, [layer head]: the cosine with a head off in both sentences. */
export interface SimilarityHeadsAnswer {
  cosine: number;
  layers: number;
  heads: number;
}

/** The similarity of two sentences without each head. */
export type SimilarityHeadsRequest = SimilarityRequest;

/** A beam: the index of its parent in the previous step, and its new token; a finished beam adds no token. */
export interface Beam {
  parent: number;
  token: string;
  log_probability: number;
  score: number;
  finished: boolean;
}

/** The beams kept after each step, and the texts of the final ones, the best first. */
export interface BeamSearchAnswer {
  steps: Beam[][];
  texts: string[];
  length_penalty: number;
}

/** A beam search for the source of a question; it ignores the question's text. */
export interface BeamSearchRequest extends QuestionRequest {
  beam_width?: number;
}

/** The request and the answer of each route. */
export interface TasksRoutes {
  token_labels: { request: TokenLabelsRequest; answer: TokenLabelsAnswer };
  label_effects: { request: LabelEffectsRequest; answer: LabelEffectsAnswer };
  sentence_similarity: { request: SentenceSimilarityRequest; answer: SentenceSimilarityAnswer };
  similarity_heads: { request: SimilarityHeadsRequest; answer: SimilarityHeadsAnswer };
  beam_search: { request: BeamSearchRequest; answer: BeamSearchAnswer };
}
