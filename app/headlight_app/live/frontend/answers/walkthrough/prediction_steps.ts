// The steps of the prediction at one position, as in model/headlight/analysis/walkthrough/prediction.py.

import type { Value } from "../../engine/types.ts";
import { largest, valuesOf } from "../predictions.ts";
import type { Run } from "../runs.ts";
import type { Model, StepForm } from "../types.ts";
import { multiplied, rowOf } from "./head_steps.ts";
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
  const vectors = vectorsOf(place, form);
  const ofAnswers = { prepared: vectors.prepared, logits, answers, answer };
  const known = { ...vectorNumbers(vectors), ...answerNumbers(model, form, ofAnswers) };
  return { form, numbers: form.map(([name]) => known[name]()), answers, answer };
}

type NumbersByName = Record<string, () => Numbers>;

/** The vectors from the residual stream to the one that is compared with answers; a step that is absent keeps them. */
function vectorsOf({ model, run, path, query }: Place, form: StepForm) {
  const stack = path.split(".")[0];
  const has = (step: string) => form.some(([name]) => name === step);
  const piece = (name: string, x: Float32Array) => pieceOf(model, name, x, [1, x.length]);
  const whole = run.trace.value(`${stack}.final_residual`);
  const final = rowOf(whole, 0, query);
  const isMapped = has("final-norm") || has("project-out");
  const residual = isMapped ? rowOf(run.trace.value(`${stack}.residual`), 0, query) : final;
  const projected = has("project-out") ? residual : final;
  const normed = has("final-norm") && has("project-out") ? piece("final_norm", residual) : projected;
  const vector = has("pool") ? pooled(model, run, whole) : final;
  const prepared = has("transform") ? piece("prepared", vector) : vector;
  return { residual, normed, final, vector, prepared };
}

function vectorNumbers({ residual, normed, final, vector, prepared }: ReturnType<typeof vectorsOf>): NumbersByName {
  return {
    "last-layer": () => [residual],
    "final-norm": () => [residual, normed],
    "project-out": () => [normed, final],
    pool: () => [final, vector],
    transform: () => [vector, prepared],
  };
}

interface Answers {
  /** The vector that is compared with theirs. */
  readonly prepared: Float32Array;
  readonly logits: Float32Array;
  readonly answers: readonly number[];
  readonly answer: number;
}

function answerNumbers(model: Model, form: StepForm, { prepared, logits, answers, answer }: Answers): NumbersByName {
  const hasBias = form.some(([name, , values]) => name === "logits" && values.length > 2);
  const isCapped = form.some(([name]) => name === "logit-soft-cap");
  const rowOfAnswer = (id: number) => pieceOf(model, "answer", [id], [1]);
  const biasOf = (id: number) => pieceOf(model, "answer_bias", [id], [1]);
  const productsOf = (id: number) => multiplied(prepared, rowOfAnswer(id));
  const raw = () => answers.map((id) => sumOf(productsOf(id)) + (hasBias ? biasOf(id)[0] : 0));
  const shown = answers.map((id) => logits[id]);
  return {
    compare: () => [prepared, rowOfAnswer(answer), productsOf(answer)],
    logits: () => [[sumOf(productsOf(answer))], ...(hasBias ? [biasOf(answer)] : []), isCapped ? raw() : shown],
    "logit-soft-cap": () => [raw(), shown],
    probabilities: () => probabilities(logits, answers),
    sigmoid: () => {
      const values = valuesOf(logits, model.facts.problem_type.name);
      return [shown, answers.map((id) => values[id])];
    },
  };
}

function pieceOf({ engine }: Model, name: string, x: ArrayLike<number>, shape: readonly number[]): Float32Array {
  return engine.piece(name, { x: { shape, numbers: Float32Array.from(x) } }).numbers;
}

/** The vector of the whole text. */
function pooled({ engine }: Model, { tokens }: Run, { shape, numbers }: Value): Float32Array {
  const ids = Float32Array.from(tokens, ({ id }) => id);
  return engine.piece("pooled", { x: { shape: [1, ...shape], numbers }, ids: { shape: [1, ids.length], numbers: ids } })
    .numbers;
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
