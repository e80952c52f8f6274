// Functions of each number, and of pairs of numbers of values whose shapes fit each other.

import type { Value } from "../types.ts";
import { expand, sizeOf } from "./shapes.ts";

type Operand = Value | number;

const unary =
  (of: (x: number) => number) =>
  ({ shape, numbers }: Value): Value => ({ shape, numbers: numbers.map(of) });

const isNumber = (operand: Operand | null): operand is number => typeof operand === "number";
const shapeOf = (operand: Operand) => (isNumber(operand) ? [] : operand.shape);

/** The shape of both together: an axis of size 1 is repeated. */
function together(one: readonly number[], other: readonly number[]): number[] {
  const rank = Math.max(one.length, other.length);
  const size = (shape: readonly number[], axis: number) => shape[axis - rank + shape.length] ?? 1;
  return Array.from({ length: rank }, (_, axis) => {
    const [a, b] = [size(one, axis), size(other, axis)];
    return a === 1 ? b : a;
  });
}

/** The numbers of an operand in a shape; one alone stands for all. */
function spread(operand: Operand, shape: readonly number[]): Float32Array {
  if (isNumber(operand)) return Float32Array.of(operand);
  const { numbers } = operand;
  return numbers.length === 1 || numbers.length === sizeOf(shape) ? numbers : expand(operand, shape).numbers;
}

/** Writes what becomes of each pair of numbers; `i` and `j` are 0 for an operand of one number, else 1. */
type Pairs = (to: Float32Array, a: Float32Array, i: number, b: Float32Array, j: number) => void;

const binary =
  (write: Pairs) =>
  (x: Operand, y: Operand): Value => {
    const shape = together(shapeOf(x), shapeOf(y));
    const numbers = new Float32Array(sizeOf(shape));
    const [a, b] = [spread(x, shape), spread(y, shape)];
    write(numbers, a, Number(a.length > 1), b, Number(b.length > 1));
    return { shape, numbers };
  };

const pairs = (of: (x: number, y: number) => number) =>
  binary((to, a, i, b, j) => {
    for (let at = 0; at < to.length; at++) to[at] = of(a[at * i] as number, b[at * j] as number);
  });

export function where(condition: Value, yes: Operand, no: Operand): Value {
  const shape = together(condition.shape, together(shapeOf(yes), shapeOf(no)));
  const numbers = new Float32Array(sizeOf(shape));
  const [chosen, a, b] = [spread(condition, shape), spread(yes, shape), spread(no, shape)];
  const [nextChosen, nextA, nextB] = [chosen, a, b].map((each) => Number(each.length > 1)) as [number, number, number];
  for (let i = 0; i < numbers.length; i++)
    numbers[i] = (chosen[i * nextChosen] ? a[i * nextA] : b[i * nextB]) as number;
  return { shape, numbers };
}

export function clamp(x: Value, least: Operand | null, most: Operand | null): Value {
  const above = least === null ? x : pairs(Math.max)(x, least);
  return most === null ? above : pairs(Math.min)(above, most);
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

/** The error function: its series near 0, a continued fraction farther away; exact to double precision. */
export function errorFunction(x: number): number {
  const a = Math.abs(x);
  if (a > 6) return Math.sign(x);
  if (a < 2.5) {
    let term = x;
    let sum = x;
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= (-x * x * (2 * n - 1)) / (n * (2 * n + 1));
      sum += term;
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = 0;
  for (let n = 40; n > 0; n--) fraction = n / 2 / (a + fraction);
  return Math.sign(x) * (1 - Math.exp(-a * a) / (Math.sqrt(Math.PI) * (a + fraction)));
}

/** x in bfloat16: the upper 16 bits, rounded to even. */
function bfloat16(x: number): number {
  word.setFloat32(0, x);
  const bits = word.getUint32(0);
  if (Number.isFinite(x)) word.setUint32(0, ((bits + 0x7fff + ((bits >>> 16) & 1)) & 0xffff0000) >>> 0);
  return word.getFloat32(0);
}
const word = new DataView(new ArrayBuffer(4));

const truth = (is: boolean) => Number(is);
const CURVE = Math.sqrt(2 / Math.PI);

export const unaries = {
  abs: unary(Math.abs),
  bfloat16: unary(bfloat16),
  ceil: unary(Math.ceil),
  cos: unary(Math.cos),
  exp: unary(Math.exp),
  floor: unary(Math.floor),
  gelu: unary((x) => (x * (1 + errorFunction(x * Math.SQRT1_2))) / 2),
  gelu_tanh: unary((x) => (x * (1 + Math.tanh(CURVE * (x + 0.044715 * x * x * x)))) / 2),
  log: unary(Math.log),
  log1p: unary(Math.log1p),
  neg: unary((x) => -x),
  reciprocal: unary((x) => 1 / x),
  relu: unary((x) => (x < 0 ? 0 : x)),
  rsqrt: unary((x) => 1 / Math.sqrt(x)),
  sigmoid: unary(sigmoid),
  sign: unary(Math.sign),
  silu: unary((x) => x * sigmoid(x)),
  sin: unary(Math.sin),
  softplus: unary((x) => (x > 20 ? x : Math.log1p(Math.exp(x)))),
  sqrt: unary(Math.sqrt),
  square: unary((x) => x * x),
  tanh: unary(Math.tanh),
  trunc: unary(Math.trunc),
};

export const binaries = {
  // A loop of its own for what there is most of: a call for each number takes longer than the sum.
  add: binary((to, a, i, b, j) => {
    for (let at = 0; at < to.length; at++) to[at] = (a[at * i] as number) + (b[at * j] as number);
  }),
  mul: binary((to, a, i, b, j) => {
    for (let at = 0; at < to.length; at++) to[at] = (a[at * i] as number) * (b[at * j] as number);
  }),
  sub: pairs((x, y) => x - y),
  div: pairs((x, y) => x / y),
  floor_divide: pairs((x, y) => Math.floor(x / y)),
  pow: pairs((x, y) => x ** y),
  remainder: pairs((x, y) => x - y * Math.floor(x / y)),
  eq: pairs((x, y) => truth(x === y)),
  ne: pairs((x, y) => truth(x !== y)),
  ge: pairs((x, y) => truth(x >= y)),
  gt: pairs((x, y) => truth(x > y)),
  le: pairs((x, y) => truth(x <= y)),
  lt: pairs((x, y) => truth(x < y)),
};
