// Single heads and single pairs of tokens, as in app/headlight_app/explore/answers/heads.py.

import type {
  HeadMatrixAnswer,
  HeadMatrixRequest,
  HeadMetricsAnswer,
  HeadMetricsRequest,
  QueryKeyWeightsRequest,
} from "../../../explore/frontend/contract.ts";
import { Refused } from "../engine/refused.ts";
import { quoted } from "../quoted.ts";
import { headOf } from "./codes.ts";
import { hookPointOf } from "./edits/paths.ts";
import { selectedGroup } from "./head_choice.ts";
import { bytesOf } from "./head_view.ts";
import type { Runs } from "./runs.ts";
import { groupMetrics, pathOf } from "./trace.ts";
import type { Reply } from "./types.ts";

/** The exact numbers of one head, [query key], row by row. */
export function answerHeadMatrix(runs: Runs, { question, path, head = 0 }: HeadMatrixRequest): Reply<HeadMatrixAnswer> {
  const points = runs.model.facts.matrix_hook_points;
  if (!points.includes(hookPointOf(path)))
    throw new Refused(`${quoted(path)} cannot be requested; possible are ${points.join(", ")} of an attention.`);
  const { trace } = runs.of(question);
  if (!trace.paths.includes(path))
    throw new Refused(`This model has no value ${path}. A path is written STACK.LAYER.PART.HOOK_POINT.`);
  const value = trace.value(path);
  if (head >= value.shape[0]) throw new Refused(`${path} has no head ${head}; there are ${value.shape[0]}, from 0.`);
  const { rows, columns, numbers } = headOf(value, head);
  return { meta: { rows, columns }, numbers: bytesOf(numbers) };
}

/** The metrics of all heads of one attention, for texts too long to include them in every answer. */
export function answerHeadMetrics(runs: Runs, request: HeadMetricsRequest): Reply<HeadMetricsAnswer> {
  const { facts } = runs.model;
  const run = runs.of(request.question);
  return {
    meta: { metrics: groupMetrics(selectedGroup(facts, request.attention), run, facts) },
    numbers: new Uint8Array(),
  };
}

/** The weight from one query to one key in all heads of one attention, [layer head]; NaN if the mask forbids it. */
export function answerQueryKeyWeights(runs: Runs, request: QueryKeyWeightsRequest): Reply {
  const { tokens, trace } = runs.of(request.question);
  const group = selectedGroup(runs.model.facts, request.attention);
  const { query, key } = request;
  const outside = [query, key].find((place) => !(place in tokens));
  if (outside !== undefined)
    throw new Refused(`There is no token ${outside}: the text has ${tokens.length}, counted from 0.`);
  const found = new Float32Array(group.layers * group.heads);
  for (let layer = 0; layer < group.layers; layer++)
    for (let head = 0; head < group.heads; head++) {
      const cellOf = (point: string) =>
        headOf(trace.value(`${pathOf(group, layer)}.${point}`), head).numbers[query * tokens.length + key];
      found[layer * group.heads + head] = cellOf("mask") > 0 ? cellOf("weights") : Number.NaN;
    }
  return { meta: {}, numbers: bytesOf(found) };
}
