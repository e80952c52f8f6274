// Data from Python for the page Tasks besides Explore's, and the data that its views draw.

import type { ExploreData, TabRow } from "../../explore/frontend/types.js";
import type { TasksPageAnswer } from "./contract.js";

export type * from "../../explore/frontend/types.js";
export type * from "./contract.js";

export interface TasksData extends ExploreData, Pick<TasksPageAnswer, "task_analyses"> {
  task_views: TabRow[];
}
