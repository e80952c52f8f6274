// Written from headlight_app/tasks/contract.py by app/contract_types.py.

import type { AnalysisRow, ExplorePageAnswer } from "../../explore/frontend/contract.js";
import type { AnswerNumbers, Candidate, QuestionRequest } from "../../ui/frontend/contract.js";

/** Explore's own data, and the tasks whose answers are views. */
export interface TasksPageAnswer extends ExplorePageAnswer {
  task_analyses: AnalysisRow[];
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

/** The request and the answer of each route. */
export interface TasksRoutes {
  token_labels: { request: TokenLabelsRequest; answer: TokenLabelsAnswer };
}
