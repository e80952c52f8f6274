// What Python sends to the page Tasks besides what Explore needs, and what its views draw.

import type { ExploreData, TabRow } from "../../explore/frontend/types.js";
import type { TasksPageAnswer } from "./contract.js";

export type * from "../../explore/frontend/types.js";
export type * from "./contract.js";

export interface TasksData extends ExploreData, Pick<TasksPageAnswer, "poolings" | "trained_pooling"> {
  task_views: TabRow[];
}

/** A token of the answer, the query whose row gave it, and what stands beneath it. */
export interface OutputToken {
  text: string;
  query: number;
  note: string;
  wrong: boolean;
  /** Not written yet, at the step that is shown. */
  ahead: boolean;
}

/** Tokens that lines connect: `inputs` are the keys of an attention, `outputs` what its queries gave. */
export interface Alignment {
  attention: string;
  inputs: { text: string; special: boolean; masked: boolean }[];
  outputs: OutputToken[];
  /** Introduces what an output looked at. */
  verb: string;
}

/** The weight from a query to a key, and of which heads it is. */
export interface AlignmentWeights {
  at(query: number, key: number): number;
  title: string;
}

/** The log-odds of a label: of the text, without each token by its position, and without each head of each layer. */
export interface Effects {
  label: string;
  all: number;
  tokens: Map<number, number>;
  heads: number[][];
}
