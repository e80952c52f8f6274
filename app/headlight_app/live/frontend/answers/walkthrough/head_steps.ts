// The numbers of the steps of one head, as in model/headlight/analysis/walkthrough/attention.py.

import { formatNumber } from "../../../../ui/frontend/dom/numbers.ts";
import { table } from "../../../../ui/frontend/dom/table.ts";
import type { Value } from "../../engine/types.ts";
import { headOf } from "../codes.ts";
import type { Numbers, Place } from "./walkthrough.ts";

const SMALLEST = -3.4028234663852886e38; // marks forbidden cells

/** What a step needs besides its place: how many values its form has, and the paths of its values. */
type Step = (place: Place, count: number, paths: readonly string[]) => Numbers;

const STEPS: Record<string, Step> = table({
  input: (place) => {
    const x = place.run.trace.value(`${place.path}.input`);
    const residual = place.run.trace.value(`${place.path.replace(/\.self$/, "")}.residual`);
    return [rowOf(residual, 0, place.query), rowOf(x, 0, place.query), rowOf(x, 0, place.key)];
  },
  project: (place) => [atQuery(place, "q"), atKey(place, "k"), atKey(place, "v")],
  rotate: (place) => [atQuery(place, "q"), atQuery(place, "rotated_q"), atKey(place, "k"), atKey(place, "rotated_k")],
  multiply: (place) => [atQuery(place, "rotated_q"), atKey(place, "rotated_k"), products(place)],
  sum: (place) => [products(place), [dot(place)]],
  scale: (place) => [[dot(place)], [scaled(place)]],
  bias: (place) => [[scaled(place)], [biasOf(place)], [scaled(place) + biasOf(place)]],
  "soft-cap": (place) => [[beforeCap(place)], [capped(place)]],
  mask: (place) => [pairs(place, "scores"), pairs(place, "mask"), masked(place)],
  weights: (place, count) => [masked(place), ...(count > 2 ? sinkOf(place) : []), pairs(place, "weights")],
  "weighted-sum": weightedSum,
  output: (place) => {
    const z = atQuery(place, "weighted_values");
    return [z, headOutput(place), rowOf(place.run.trace.value(`${place.path}.output`), 0, place.query)];
  },
});

/** The numbers of a step's values; those of networks are what was recorded at their paths. */
export function headNumbers(place: Place, name: string, count: number, paths: readonly string[]): Numbers {
  const step = STEPS[name];
  return step ? step(place, count, paths) : paths.map((path) => rowOf(place.run.trace.value(path), 0, place.query));
}

/** A formula with the numbers that edits can change: positions, and the scale. */
export function headFormula(place: Place, name: string, formula: string): string {
  const { run, path, query, key } = place;
  const stack = path.split(".")[0];
  if (name === "rotate") {
    const ids = run.trace.value(`${stack}.position_ids`).numbers;
    return `q'_{i} = R_{${positionText(ids[query])}} q_{i},   k'_{j} = R_{${positionText(ids[key])}} k_{j}`;
  }
  return name === "scale" ? formula.replace(/ (\/ √\d+|\(not scaled\)|· [^ ]+)$/, ` ${scaling(place)}`) : formula;
}

/** A number in up to six digits. */
function positionText(position: number): string {
  return String(Number(position.toPrecision(6)));
}

function scaling(place: Place): string {
  const { head_dim } = attentionOf(place);
  const scale = scaleOf(place);
  if (Math.abs(scale - head_dim ** -0.5) <= 1e-6 * Math.max(scale, head_dim ** -0.5)) return `/ √${head_dim}`;
  return scale === 1 ? "(not scaled)" : `· ${formatNumber(scale, 4)}`;
}

/** A row of a value, [head row column] or [row column]. */
export function rowOf(value: Value, head: number, row: number): Float32Array {
  const [rows, columns] = value.shape.slice(-2);
  const start = (head * rows + row) * columns;
  return value.numbers.subarray(start, start + columns);
}

function attentionOf({ model, path }: Place) {
  const { steps } = model.facts;
  if (!steps) throw new Error("a model without steps has no walkthrough");
  return steps.attentions[path];
}

function atQuery({ run, path, head, query }: Place, point: string): Float32Array {
  return rowOf(run.trace.value(`${path}.${point}`), head, query);
}

/** The row of the key, of the key-value head that the head shares with others. */
function atKey(place: Place, point: string): Float32Array {
  const shared = Math.floor(place.head / attentionOf(place).group_size);
  return rowOf(place.run.trace.value(`${place.path}.${point}`), shared, place.key);
}

/** The numbers of the query with all keys. */
function pairs({ run, path, head, query }: Place, point: string): Float32Array {
  const { columns, numbers } = headOf(run.trace.value(`${path}.${point}`), head);
  return numbers.subarray(query * columns, (query + 1) * columns);
}

function products(place: Place): Float32Array {
  return multiplied(atQuery(place, "rotated_q"), atKey(place, "rotated_k"));
}

/** The products of two vectors, channel by channel. */
export function multiplied(one: Float32Array, other: Float32Array): Float32Array {
  return one.map((channel, at) => channel * other[at]);
}

function dot(place: Place): number {
  return products(place).reduce((sum, product) => sum + product, 0);
}

function scaleOf({ run, path, head }: Place): number {
  return run.trace.value(`${path}.scale`).numbers[head];
}

function scaled(place: Place): number {
  return dot(place) * scaleOf(place);
}

function biasOf(place: Place): number {
  return pairs(place, "bias")[place.key];
}

function beforeCap(place: Place): number {
  return scaled(place) + (place.run.trace.paths.includes(`${place.path}.bias`) ? biasOf(place) : 0);
}

function capped(place: Place): number {
  const limit = attentionOf(place).soft_cap;
  return limit * Math.tanh(beforeCap(place) / limit);
}

function masked(place: Place): Float32Array {
  return pairs(place, "masked_scores").map((score) => (score <= SMALLEST ? Number.NEGATIVE_INFINITY : score));
}

/** The score of the head's sink, and its share. */
function sinkOf(place: Place): Numbers {
  const rest = 1 - pairs(place, "weights").reduce((sum, weight) => sum + weight, 0);
  return [[place.run.trace.value(`${place.path}.sink`).numbers[place.head]], [rest]];
}

function weightedSum(place: Place, count: number): Numbers {
  const weight = pairs(place, "weights")[place.key];
  const v = atKey(place, "v");
  const gates = count > 4 ? [atQuery(place, "gate")] : [];
  return [[weight], v, v.map((channel) => weight * channel), ...gates, atQuery(place, "weighted_values")];
}

/** What the output projection makes of this head's values alone. */
function headOutput(place: Place): Float32Array {
  const { shape } = place.run.trace.value(`${place.path}.weighted_values`);
  const [heads, , width] = shape;
  const numbers = new Float32Array(heads * width);
  numbers.set(atQuery(place, "weighted_values"), place.head * width);
  return place.model.engine.piece(`${place.path}.output`, { x: { shape: [1, heads * width], numbers } }).numbers;
}
