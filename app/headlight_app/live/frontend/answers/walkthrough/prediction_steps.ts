// The steps of the prediction at one position, as in model/headlight/analysis/walkthrough/prediction.py.

import type { Value } from "../../engine/types.ts";
import { largest, valuesOf } from "../predictions.ts";
import type { StepForm } from "../types.ts";
import { rowOf } from "./head_steps.ts";
import type { Numbers, Place } from "./walkthrough.ts";

interface PredictionSteps {
  readonly form: StepForm;
  readonly numbers: readonly Numbers[];
  /** The likeliest answers and the chosen one. */
  readonly answers: readonly number[];
  readonly answer: number;
}

/** The steps that end in the probabilities of the likeliest answers and of a chosen one: -1 is the likeliest. */
export function predictionSteps(place: Place, chosen: number): PredictionSteps {
  const { model, run, query } = place;
  const { steps } = model.facts;
  const form = steps?.prediction;
  if (!form) return { form: [], numbers: [], answers: [], answer: -1 };
  const logits = run.trace.logits(query);
  const likeliest = [...logits.keys()].sort((one, other) => logits[other] - logits[one] || one - other);
  const answer = chosen in logits ? chosen : likeliest[0];
  const top = likeliest.slice(0, steps.answers);
  const answers = top.includes(answer) ? top : [...top, answer];
  const known = numbersByName(place, form, logits, answers, answer);
  return { form, numbers: form.map(([name]) => known[name]()), answers, answer };
}

function numbersByName(
  place: Place,
  form: StepForm,
  logits: Float32Array,
  answers: readonly number[],
  answer: number,
): Record<string, () => Numbers> {
  const { model, run, query } = place;
  const stack = place.path.split(".")[0];
  const names = form.map(([name]) => name);
  const piece = (name: string, numbers: ArrayLike<number>) =>
    model.engine.piece(name, { x: { shape: [1, numbers.length], numbers: Float32Array.from(numbers) } }).numbers;
  const ofAnswer = (name: string, id: number) =>
    model.engine.piece(name, { x: { shape: [1], numbers: Float32Array.of(id) } }).numbers;
  const hasBias = form.some(([name, , values]) => name === "logits" && values.length > 2);
  const residual = rowOf(run.trace.value(`${stack}.residual`), 0, query);
  const whole = run.trace.value(`${stack}.final_residual`);
  const final = rowOf(whole, 0, query);
  const normed = names.includes("final-norm") && names.includes("project-out") ? piece("final_norm", residual) : final;
  const vector = names.includes("pool") ? pooled(place, whole) : final;
  const prepared = names.includes("transform") ? piece("prepared", vector) : vector;
  const productsOf = (id: number) => {
    const row = ofAnswer("answer", id);
    return prepared.map((channel, at) => channel * row[at]);
  };
  const raw = (id: number) => sumOf(productsOf(id)) + (hasBias ? ofAnswer("answer_bias", id)[0] : 0);
  const shown = answers.map((id) => logits[id]);
  const isCapped = names.includes("logit-soft-cap");
  return {
    "last-layer": () => [names.some((name) => ["final-norm", "project-out"].includes(name)) ? residual : final],
    "final-norm": () => [residual, normed],
    "project-out": () => [names.includes("final-norm") ? normed : residual, final],
    pool: () => [final, vector],
    transform: () => [vector, prepared],
    compare: () => [prepared, ofAnswer("answer", answer), productsOf(answer)],
    logits: () => [
      [sumOf(productsOf(answer))],
      ...(hasBias ? [ofAnswer("answer_bias", answer)] : []),
      isCapped ? answers.map(raw) : shown,
    ],
    "logit-soft-cap": () => [answers.map(raw), shown],
    probabilities: () => probabilities(logits, answers),
    sigmoid: () => {
      const values = valuesOf(logits, model.facts.problem_type.name);
      return [shown, answers.map((id) => values[id])];
    },
  };
}

/** The vector of the whole text. */
function pooled({ model, run }: Place, { shape, numbers }: Value): Float32Array {
  const ids = Float32Array.from(run.tokens, ({ id }) => id);
  return model.engine.piece("pooled", {
    x: { shape: [1, ...shape], numbers },
    ids: { shape: [1, ids.length], numbers: ids },
  }).numbers;
}

function probabilities(logits: Float32Array, answers: readonly number[]): Numbers {
  const most = largest(logits);
  const powers = new Float64Array(logits).map((logit) => Math.exp(logit - most));
  const total = sumOf(powers);
  const shown = answers.map((id) => powers[id]);
  return [answers.map((id) => logits[id]), shown, [total], shown.map((power) => power / total)];
}

function sumOf(numbers: Float32Array | Float64Array): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}
