// The answers of a page without a server: what Python's workers answer, of the engine's runs and the facts.

import { table } from "../../../ui/frontend/dom/table.ts";
import { Refused } from "../engine/refused.ts";
import type { ROUTES } from "../routes.ts";
import { answerGenerate } from "./generate/step.ts";
import { answerHeadView } from "./head_view.ts";
import { answerHeadMatrix, answerHeadMetrics, answerQueryKeyWeights } from "./heads.ts";
import { openRuns, type Runs } from "./runs.ts";
import { answerTrace } from "./trace.ts";
import type { Model, Reply } from "./types.ts";
import { answerWalkthrough } from "./walkthrough/walkthrough.ts";

type Answer = (runs: Runs, request: never) => Reply;

const ANSWERS: Record<(typeof ROUTES)[number], Answer> = table({
  trace: answerTrace,
  head_view: answerHeadView,
  head_matrix: answerHeadMatrix,
  head_metrics: answerHeadMetrics,
  query_key_weights: answerQueryKeyWeights,
  walkthrough: answerWalkthrough,
  generate: answerGenerate,
});

/** The answers about a model, which keep its last runs. A refusal is an answer whose `error` is a sentence. */
export function openAnswers(model: Model): (route: string, request: unknown) => Reply {
  const runs = openRuns(model);
  return (route, request) => {
    try {
      const found: Answer | undefined = ANSWERS[route as keyof typeof ANSWERS];
      if (!found) throw new Refused("This needs a server; open this model in Headlight for it.");
      return found(runs, request as never);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { meta: { error: error.message }, numbers: new Uint8Array() };
    }
  };
}

/** One answer; `openAnswers` is faster for several. */
export function answer(route: string, request: unknown, model: Model): Reply {
  return openAnswers(model)(route, request);
}
