// Written from headlight_app/positions/contract.py by app/contract_types.py.

import type { ArraysAnswer, Question, QuestionRequest } from "../../ui/frontend/contract.js";

/** The arrays of an encoding, with its formula and code; `missing` says which weights were never trained. */
export interface PositionProfileAnswer extends ArraysAnswer {
  title: string;
  description: string;
  formula: string;
  code: string;
  missing: string;
}

/** The positional encoding of a stack, by default the last one, at the positions 0 to `length` - 1. */
export interface PositionProfileRequest extends QuestionRequest {
  length: number;
  stack?: string;
  layer?: number | null;
}

/** Bits per token, over the measured texts. */
export interface MeasuredLoss {
  mean: number;
  standard_error: number;
}

/** A measured model: its loss at each length, None if undefined, and with shuffled words. */
export interface LossRow {
  question: Question;
  title: string;
  losses: (MeasuredLoss | null)[];
  shuffled: MeasuredLoss;
}

/** The losses of models of one architecture that differ only in their encoding. */
export interface LossTable {
  architecture: string;
  lengths: number[];
  rows: LossRow[];
  target_count: number;
  seed_spread: number[];
  command: string;
}

/** A table for each architecture. */
export interface PositionLossesAnswer {
  tables: LossTable[];
}

/** The request and the answer of each route. */
export interface PositionsRoutes {
  position_profile: { request: PositionProfileRequest; answer: PositionProfileAnswer };
}
