// Data from Python for the page Tasks besides Explore's, and the data that its views draw.

import type { ExploreData, TabRow } from "../../explore/frontend/types.ts";
import type { TasksPageAnswer } from "./contract.ts";

export type * from "../../explore/frontend/types.ts";
export type * from "./contract.ts";

export interface TasksData extends ExploreData, Pick<TasksPageAnswer, "task_analyses"> {
  task_views: TabRow[];
}
