// Written from headlight_app/compare/contract.py by tests/javascript/contracts.py.

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
} from "../../ui/frontend/contract.js";

/** One of the two runs. Its notes say what should be known before believing it. */
export interface SideAnswer {
  tokens: Token[];
  source_tokens: Token[] | null;
  attention_groups: AttentionGroupAnswer[];
  notes: string[];
}

/** Two attentions by their names in A and B, and the distance of each head, [layer][head]. */
export interface ComparedAttention {
  left_name: string;
  right_name: string;
  title: string;
  distance: (number | null)[][];
}

/** A possible token or label: its probability in A (left) and in B; None where that side cannot predict it. */
export interface ComparedCandidate {
  text: string;
  left: number | null;
  right: number | null;
}

/** The predictions of both sides at corresponding positions, and their Jensen-Shannon distance. */
export interface ComparedPrediction {
  titles: [string, string];
  places: [[string, string | null], [string, string | null]];
  positions: [number, number];
  distance: number;
  candidates: ComparedCandidate[];
}

/** Both sides, and how they correspond: pairs of positions in their texts, and in their sources where both have one. */
export interface CompareAnswer {
  sides: [SideAnswer, SideAnswer];
  alignment: string;
  alignments: Record<string, [number, number][]>;
  attentions: ComparedAttention[];
  predictions: ComparedPrediction[];
  milliseconds: number;
}

/** Two questions compared; without an `alignment` the one that suits the texts. `query` is a position in A. */
export interface CompareRequest extends Request {
  sides: [Question, Question];
  alignment?: string;
  query?: number;
}

/** Something worth comparing: its title, the text of side A (None: the present one), and what is different in B. */
export interface Preset {
  title: string;
  text: string | null;
  side_b: Difference;
}

/** A model to choose for side B: `kind` is what all models like it do, `purpose` what this one does. */
export interface ModelRow {
  name: string;
  title: string;
  kind: string;
  purpose: string;
  trained: Variant;
  has_source: boolean;
  trained_models: Record<string, string>;
}

/** The page before the first answer. `parts` are those that can be replaced, by the fields of a Variant. */
export interface ComparePageAnswer {
  example: ExampleAnswer;
  default_side_b: Difference;
  presets: Preset[];
  parts: Record<string, PartChoices>;
  alignments: Record<string, string>;
  mask_arguments: Record<string, MaskArgument>;
  writes_pdf: boolean;
}

/** What each route is asked, and what it answers. */
export interface CompareRoutes {
  compare: { request: CompareRequest; answer: CompareAnswer };
}
