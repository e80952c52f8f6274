// The engine: runs the plan of a model on the ids of a text, and records every hook point.

import { checkPositions, checkText } from "./checks.ts";
import { openKernel } from "./kernel.ts";
import { type Operators, operatorsOf } from "./operators/operators.ts";
import { runProgram } from "./program.ts";
import { Refused } from "./refused.ts";
import type { Edit, Engine, PlanFile, Program, Trace, Value } from "./types.ts";
import { openWeights, type Weight } from "./weights.ts";

const POSITIONS = ".position_ids";
const LOGITS = "logits";

interface Model {
  readonly plan: PlanFile;
  readonly operators: Operators;
  readonly weights: readonly Weight[];
}

/** Throws a Refused with a sentence if the browser cannot run the model, or the file is cut off. */
export async function openEngine(plan: PlanFile, weights: ArrayBuffer): Promise<Engine> {
  const kernel = await openKernel();
  const model = { plan, operators: operatorsOf(kernel), weights: openWeights(plan, weights, kernel) };
  return {
    run: (ids, edit = () => {}, encoding = plan.encoding) => traceOf(model, ids, edit, encoding),
    piece: (name, inputs) => pieceOf(model, name, inputs),
  };
}

function pieceOf({ plan, operators, weights }: Model, name: string, inputs: Readonly<Record<string, Value>>): Value {
  if (!Object.hasOwn(plan.pieces, name)) return refuse(`This page cannot compute ${name.slice(0, 40)}.`);
  const length = inputs.ids?.shape[1] ?? 0;
  return runProgram(plan.pieces[name] as Program, operators, { inputs, weights, length }, (_, value) => value);
}

function traceOf(model: Model, ids: readonly number[], edit: Edit, encoding: string): Trace {
  const { plan, operators, weights } = model;
  checkText(plan, ids);
  const program = Object.hasOwn(plan.hidden, encoding) ? plan.hidden[encoding] : undefined;
  if (!program) throw new Refused(`This page cannot give the model the positions ${encoding.slice(0, 40)}.`);
  const values = new Map<string, Value>();
  const point = (path: string, { shape, numbers }: Value): Value => {
    // A copy: the numbers may be those of another value in another shape.
    const value = { shape: shape.slice(1), numbers: numbers.slice() };
    edit(path, value);
    if (path.endsWith(POSITIONS)) checkPositions(value.numbers, program.positions);
    values.set(path, value);
    return { shape, numbers: value.numbers };
  };
  const final = runProgram(program, operators, { inputs: { ids: batch(ids) }, weights, length: ids.length }, point);
  const logits = logitsOf(model, ids, final, edit);
  if (logits.all) values.set(LOGITS, logits.all);
  return {
    paths: [...values.keys()],
    value(path) {
      const value = values.get(path);
      if (!value) throw new Refused(`This model has no value at ${path.slice(0, 80)}.`);
      return value;
    },
    logits: logits.of,
  };
}

const batch = (ids: readonly number[]): Value => ({ shape: [1, ids.length], numbers: Float32Array.from(ids) });

/** The logits of all positions, which are computed only if something reads them; and those of one. */
function logitsOf({ plan, operators, weights }: Model, ids: readonly number[], final: Value, edit: Edit) {
  const { logits: program, answers, is_pooled } = plan;
  if (!program) return { all: null, of: () => refuse("This model has no output head: it predicts nothing.") };
  const width = final.shape[2] as number;
  const rows = (start: number, end: number): Float32Array => {
    const numbers = final.numbers.subarray(start * width, end * width);
    const inputs = { final_residual: { shape: [1, end - start, width], numbers }, ids: batch(ids.slice(start, end)) };
    return runProgram(program, operators, { inputs, weights, length: end - start }, (_, value) => value).numbers;
  };
  let computed: Float32Array | null = null;
  const all: Value = {
    shape: is_pooled ? [answers] : [ids.length, answers],
    get numbers() {
      computed ??= rows(0, ids.length);
      return computed;
    },
  };
  edit(LOGITS, all);
  const single = new Map<number, Float32Array>();
  const of = (position: number): Float32Array => {
    if (!(position in ids)) return refuse(`There is no token ${position}: the text has ${ids.length}, counted from 0.`);
    if (is_pooled) return all.numbers;
    const known = computed?.subarray(position * answers, (position + 1) * answers) ?? single.get(position);
    const found = known ?? rows(position, position + 1);
    single.set(position, found);
    return found;
  };
  return { all, of };
}

function refuse(sentence: string): never {
  throw new Refused(sentence);
}
