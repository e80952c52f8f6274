// Data from Python for the page Tasks besides Explore's, and the data that its views draw.

import type { ExploreData, TabRow } from "../../explore/frontend/types.js";
import type { TasksPageAnswer } from "./contract.js";

export type * from "../../explore/frontend/types.js";
export type * from "./contract.js";

export interface TasksData extends ExploreData, Pick<TasksPageAnswer, "task_analyses"> {
  task_views: TabRow[];
}

/** A token of the answer, the query that predicted it, and a note beneath it. */
export interface OutputToken {
  text: string;
  query: number;
  note: string;
  wrong: boolean;
  /** Whether it is not yet written at the shown step. */
  ahead: boolean;
}

/** Tokens that lines connect: `inputs` are the keys of an attention, `outputs` the predictions of its queries. */
export interface Alignment {
  attention: string;
  inputs: { text: string; special: boolean; masked: boolean }[];
  outputs: OutputToken[];
  /** The words between an output and the tokens it looked at. */
  verb: string;
}

/** The weights from queries to keys, and the name of their heads. */
export interface AlignmentWeights {
  at(query: number, key: number): number;
  title: string;
}
