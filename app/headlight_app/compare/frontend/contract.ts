// Written from headlight_app/compare/contract.py by app/contract_types.py.

import type {
  AttentionGroupAnswer,
  Difference,
  ExampleAnswer,
  MaskArgument,
  PartChoices,
  Question,
  Request,
  Token,
  Variant,
} from "../../ui/frontend/contract.ts";

/** One of the two runs. Its notes are caveats about the run. */
export interface SideAnswer {
  tokens: Token[];
  source_tokens: Token[] | null;
  attention_groups: AttentionGroupAnswer[];
  notes: string[];
}

/** Two attentions by their names in A and B, and the head (layer, head) that differs most. */
export interface ComparedAttention {
  left_name: string;
  right_name: string;
  title: string;
  most_distant: [number, number];
  rows: Record<string, unknown>[];
}

/** Both sides, and the corresponding positions of their texts, and of their sources if both have one. */
export interface CompareAnswer {
  sides: [SideAnswer, SideAnswer];
  alignment: string;
  alignments: Record<string, [number, number][]>;
  attentions: ComparedAttention[];
  positions: [number, number][];
  rows: Record<string, unknown>[];
  milliseconds: number;
}

/** Two questions to compare; without an `alignment`, the one that suits the texts is used. */
export interface CompareRequest extends Request {
  sides: [Question, Question];
  alignment?: string;
  query?: number;
}

/** A suggested comparison: its title, the text of side A (None: the current text), and the difference of B. */
export interface Preset {
  title: string;
  text: string | null;
  side_b: Difference;
}

/** A model to choose for side B: `kind` is the task of its type of model, `purpose` that of this model. */
export interface ModelRow {
  name: string;
  title: string;
  kind: string;
  purpose: string;
  trained: Variant;
  has_source: boolean;
  trained_models: Record<string, string>;
}

/** The page before the first answer. `parts` are the replaceable parts, by the fields of a Variant. */
export interface ComparePageAnswer {
  reads_chat: boolean;
  example: ExampleAnswer;
  default_side_b: Difference;
  presets: Preset[];
  parts: Record<string, PartChoices>;
  alignments: Record<string, string>;
  mask_arguments: Record<string, MaskArgument>;
}

/** The request and the answer of each route. */
export interface CompareRoutes {
  compare: { request: CompareRequest; answer: CompareAnswer };
}
