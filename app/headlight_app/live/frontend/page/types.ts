// What a live page and its worker tell each other, and the data that Python writes into the page.

import type { ExplorePageAnswer } from "../../../explore/frontend/contract.ts";
import type { ExploreData } from "../../../explore/frontend/types.ts";
import type { GenerateData } from "../../../generate/frontend/types.ts";
import type { Variant } from "../../../ui/frontend/contract.ts";
import type { Deflated } from "../../../ui/frontend/wire.ts";
import type { Rules } from "./choices.ts";

/** The parts of a model as they were packed: what is known about it as JSON, and its weights. */
export interface OpenModel {
  model: Deflated;
  weights: Deflated;
}

export type ToWorker = { open: OpenModel } | { ask: { route: string; body: unknown } };

/** `closed` and `problem` are sentences for the person. */
export type FromWorker = { opened: true } | { closed: string } | { answer: ArrayBuffer } | { problem: string };

/** What Streamlit would pass on, and the parts of the model as trained. */
export type LiveData = Omit<ExploreData, "api"> & Pick<ExplorePageAnswer, "default_attention"> & { trained: Variant };

/** Explore as Streamlit would mount it: its HTML, its style sheets, and its data; and Generate for a model that writes. */
export interface LivePage {
  html: string;
  css: string;
  data: LiveData;
  rules: Rules;
  generate: LiveGenerate | null;
  /** The parameters of what the page opens with, if its address names nothing. */
  link: string;
}

export interface LiveGenerate {
  html: string;
  css: string;
  data: Omit<GenerateData, "api">;
}
