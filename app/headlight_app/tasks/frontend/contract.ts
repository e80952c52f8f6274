// Written from headlight_app/tasks/contract.py by app/contract_types.py.

import type { AnalysisRow, ExplorePageAnswer } from "../../explore/frontend/contract.ts";

/** Explore's own data, and the tasks whose answers are views. */
export interface TasksPageAnswer extends ExplorePageAnswer {
  task_analyses: AnalysisRow[];
}
