// The likeliest answers before and after the changes, as in model/headlight/rendering/predictions.py.

import type { Candidate, Prediction } from "../../../ui/frontend/contract.ts";
import type { Run, Runs } from "./runs.ts";
import type { Model } from "./types.ts";

/** The predictions at `query`, or at each masked token; none if the model predicts nothing, or no finite numbers. */
export function predictions(runs: Runs, run: Run, query: number): Prediction[] {
  const { facts } = runs.model;
  if (!facts.task.predicts) return [];
  const before = run.isChanged ? runs.asTrained(run) : run;
  const found = positionsOf(runs.model, run, query).map((position) =>
    predictionAt(runs.model, run, position, [before.trace.logits(position), run.trace.logits(position)]),
  );
  return found.includes(null) ? [] : (found as Prediction[]);
}

/** Each masked token, else `query`, else the last token; 0 for the label of a whole text. */
function positionsOf({ facts, tokenizer }: Model, { tokens }: Run, query: number): number[] {
  const last = tokens.length - 1;
  if (facts.task.whole_text) return [0];
  const masked = tokens.flatMap(({ id }, place) => (id === tokenizer.maskId ? [place] : []));
  if (facts.task.fills_masks && masked.length) return masked;
  return [query >= 0 && query <= last ? query : last];
}

type Both = readonly [Float32Array, Float32Array]; // before and after the changes

function predictionAt(model: Model, { tokens }: Run, position: number, logits: Both): Prediction | null {
  const { task, problem_type } = model.facts;
  const { name, lesson, has_scores, is_probability } = problem_type;
  const [was, now] = logits.map((each) => valuesOf(each, name));
  const compared: Both = has_scores ? logits : [was, now];
  if (!compared.every((numbers) => numbers.every(Number.isFinite))) return null;
  const isAsked = task.predicts_labels || !task.fills_masks || tokens.some(({ id }) => id === model.tokenizer.maskId);
  const candidates = likeliest(compared, model.facts.max_candidates).map(
    (id): Candidate => ({
      text: answerText(model, id),
      id,
      before: was[id],
      after: now[id],
      ...(has_scores && is_probability ? { score: logits[1][id] } : {}),
    }),
  );
  return {
    position,
    title: isAsked ? task.prediction_title : "Nothing is masked",
    preposition: task.preposition,
    token_text: task.whole_text ? null : tokens[position].text,
    candidates,
    ...(name === "single-label" ? {} : { problem_type: name }),
    ...(lesson ? { lesson } : {}),
  };
}

/** The text of a token, or the name of a label. */
export function answerText({ facts, tokenizer }: Model, id: number): string {
  if (!facts.task.predicts_labels) return tokenizer.tokenText(id);
  return facts.labels[id] ?? `label ${id}`;
}

/** The numbers that people read: probabilities, or scores. */
export function valuesOf(logits: Float32Array, problemType: string): Float32Array {
  if (problemType === "regression") return logits;
  if (problemType === "multi-label") return logits.map((logit) => 1 / (1 + Math.exp(-logit)));
  const most = largest(logits);
  const powers = new Float64Array(logits).map((logit) => Math.exp(logit - most));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return new Float32Array(powers.map((power) => power / total));
}

/** The mean negative log-likelihood, in nats, of the tokens after the first. */
export function meanLoss({ tokens, trace }: Run): number {
  const losses = tokens.slice(1).map(({ id }, position) => {
    const logits = trace.logits(position);
    const most = largest(logits);
    return most + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - most), 0)) - logits[id];
  });
  return losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
}

export function largest(numbers: Float32Array): number {
  return numbers.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
}

/** The answers with the largest numbers before or after the changes, sorted by the number after. */
function likeliest([before, after]: Both, most: number): number[] {
  const larger = after.map((number, id) => Math.max(number, before[id]));
  const top: number[] = [];
  larger.forEach((number, id) => {
    if (top.length === most && number <= larger[top[most - 1]]) return;
    const place = top.findIndex((other) => number > larger[other]);
    top.splice(place < 0 ? top.length : place, 0, id);
    top.length = Math.min(top.length, most);
  });
  return top.sort((one, other) => after[other] - after[one] || before[other] - before[one] || one - other);
}
