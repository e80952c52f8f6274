// The steps of one head between two tokens, then those of the prediction: the numbers of the forms that Python wrote.

import type {
  StepAnswer,
  StepShape,
  WalkthroughAnswer,
  WalkthroughRequest,
} from "../../../../explore/frontend/contract.ts";
import { Refused } from "../../engine/refused.ts";
import { quoted } from "../../quoted.ts";
import { hookPointOf } from "../edits/paths.ts";
import { type Intervention, matches, parseEdit } from "../edits/syntax.ts";
import { bytesOf } from "../head_view.ts";
import { answerText } from "../predictions.ts";
import type { Run, Runs } from "../runs.ts";
import { joined } from "../trace.ts";
import type { Model, ModelFacts, Reply, StepFacts, StepForm } from "../types.ts";
import { headFormula, headNumbers, rowOf } from "./head_steps.ts";
import { predictionSteps } from "./prediction_steps.ts";

/** The numbers of the values of a step. */
export type Numbers = readonly ArrayLike<number>[];

/** What the steps are about. */
export interface Place {
  readonly model: Model;
  readonly run: Run;
  readonly path: string;
  readonly head: number;
  readonly query: number;
  readonly key: number;
}

export function answerWalkthrough(runs: Runs, request: WalkthroughRequest): Reply<WalkthroughAnswer> {
  const { model } = runs;
  const { facts } = model;
  if (!facts.steps) throw new Refused("The steps of this model need a server; open it in Headlight for them.");
  const descriptions = facts.steps.steps;
  const run = runs.of(request.question);
  const place = placeOf(model, run, request, facts.steps);
  const edits = run.question.edits.map((edit) => parseEdit(edit, facts));
  const head = headForm(place, facts.steps, edits);
  const { answers, answer, ...prediction } = predictionSteps(place, request.token ?? -1);
  const numbers = [
    ...head.map(([name, , values, paths]) => headNumbers(place, name, values.length, paths)),
    ...prediction.numbers,
  ];
  const meta: WalkthroughAnswer = {
    query: place.query,
    key: place.key,
    answer: answers.indexOf(answer),
    answers: answers.map((id) => ({ id, text: answerText(model, id) })),
    steps: [...head, ...prediction.form].map((step, at) =>
      stepAnswer(place, descriptions[step[0]], step, numbers[at], edits),
    ),
  };
  return { meta, numbers: joined(numbers.flat().map((each) => bytesOf(Float32Array.from(each)))) };
}

/** The query, the last one if there is none of the number, and the key, the most attended if none is chosen. */
function placeOf(model: Model, run: Run, request: WalkthroughRequest, { attentions }: StepFacts): Place {
  const { attention: path = "", head = 0, query = -1, key = -1 } = request;
  const { length } = run.tokens;
  if (!Object.hasOwn(attentions, path))
    throw new Refused(
      `This model has no attention ${quoted(path)}; a path reads STACK.LAYER.KIND, as in decoder.0.self.`,
    );
  const [heads] = run.trace.value(`${path}.weights`).shape;
  if (head >= heads) throw new Refused(`There is no head ${head}; this layer has ${heads}, counted from 0.`);
  if (key >= length) throw new Refused(`There is no token ${key}: the text has ${length}, counted from 0.`);
  const asking = query in run.tokens ? query : length - 1;
  const weights = rowOf(run.trace.value(`${path}.weights`), head, asking);
  const mostAttended = () => weights.reduce((most, weight, at) => (weight > weights[most] ? at : most), 0);
  return { model, run, path, head, query: asking, key: key < 0 ? mostAttended() : key };
}

/** The form of the steps of an attention, with those that edits add, for this place in the model. */
function headForm(place: Place, facts: StepFacts, edits: readonly Intervention[]): StepForm {
  const { run, path } = place;
  const layer = path.slice(0, path.lastIndexOf("."));
  const forms = facts.of[run.parts.positional_encoding]?.[path] ?? {};
  const isEdited = (...points: string[]) =>
    edits.some((edit) => points.some((point) => matches(edit, `${path}.${point}`)));
  const added = [
    ...(isEdited("rotated_q", "rotated_k") ? ["rotated"] : []),
    ...(isEdited("bias") ? ["bias"] : []),
  ].join("+");
  return facts.forms[forms[added] ?? forms[""]].map(([name, formula, values, paths]) => [
    name,
    headFormula(place, name, formula),
    values,
    paths.map((each) => each.replace("@.", `${layer}.`)),
  ]);
}

function stepAnswer(
  place: Place,
  { title, explanation, part }: StepFacts["steps"][string],
  [name, formula, values, paths]: StepForm[number],
  numbers: Numbers,
  edits: readonly Intervention[],
): StepAnswer {
  return {
    name,
    title,
    explanation: inWords(explanation, place),
    part,
    formula,
    edited: edits.some((edit) => paths.some((path) => matches(edit, path))),
    shapes: paths.map((path) => shapeOf(place, path)),
    values: values.map(([symbol, axis], at) => ({ symbol, axis, count: numbers[at].length })),
  };
}

/** An explanation with the texts of the query and the key, and the model's width. */
function inWords(explanation: string, { model, run, query, key }: Place): string {
  const [asking, asked] = [query, key]
    .map((position) => run.tokens[position])
    .map(({ id, text }) => text.trim() || model.tokenizer.entry(id));
  const words: Record<string, string> = { query: asking, key: asked, width: String(model.facts.d_model) };
  return explanation.replace(/\{(query|key|width)\}/g, (_, name) => words[name]);
}

function shapeOf({ model, run }: Place, path: string): StepShape {
  const { facts } = model;
  if (path === "logits") return logitsShape(facts, run.tokens.length);
  const hook_point = hookPointOf(path);
  return { hook_point, axes: facts.hook_points[hook_point].axes, sizes: [...run.trace.value(path).shape] };
}

function logitsShape({ task, labels, vocabulary_size }: ModelFacts, length: number): StepShape {
  const answers = task.predicts_labels ? labels.length : vocabulary_size;
  const name = task.predicts_labels ? "label" : "token";
  return task.whole_text
    ? { hook_point: "logits", axes: [name], sizes: [answers] }
    : { hook_point: "logits", axes: ["pos", name], sizes: [length, answers] };
}
