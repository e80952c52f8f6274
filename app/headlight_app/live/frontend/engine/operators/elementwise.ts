// Functions of each number, and of pairs of numbers of values whose shapes fit each other.

import type { Value } from "../types.ts";
import { expand } from "./shapes.ts";

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

/** The numbers of an operand in a shape, one for all as an array of one. */
function spread(operand: Operand, shape: readonly number[]): Float32Array | [number] {
  if (isNumber(operand)) return [operand];
  const isSame = operand.numbers.length === shape.reduce((product, size) => product * size, 1);
  if (isSame) return operand.numbers;
  return operand.numbers.length === 1 ? [operand.numbers[0] as number] : expand(operand, shape).numbers;
}

const binary = (of: (x: number, y: number) => number) => (x: Operand, y: Operand): Value => {
  const shape = together(shapeOf(x), shapeOf(y));
  const numbers = new Float32Array(shape.reduce((product, size) => product * size, 1));
  const [a, b] = [spread(x, shape), spread(y, shape)];
  const [nextA, nextB] = [Number(a.length > 1), Number(b.length > 1)];
  for (let i = 0; i < numbers.length; i++) numbers[i] = of(a[i * nextA] as number, b[i * nextB] as number);
  return { shape, numbers };
};

export function where(condition: Value, yes: Operand, no: Operand): Value {
  const shape = together(condition.shape, together(shapeOf(yes), shapeOf(no)));
  const numbers = new Float32Array(shape.reduce((product, size) => product * size, 1));
  const [chosen, a, b] = [spread(condition, shape), spread(yes, shape), spread(no, shape)];
  const [nextChosen, nextA, nextB] = [chosen, a, b].map((each) => Number(each.length > 1)) as [number, number, number];
  for (let i = 0; i < numbers.length; i++)
    numbers[i] = (chosen[i * nextChosen] ? a[i * nextA] : b[i * nextB]) as number;
  return { shape, numbers };
}

export function clamp(x: Value, least: Operand | null, most: Operand | null): Value {
  const above = least === null ? x : binary(Math.max)(x, least);
  return most === null ? above : binary(Math.min)(above, most);
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
  add: binary((x, y) => x + y),
  sub: binary((x, y) => x - y),
  mul: binary((x, y) => x * y),
  div: binary((x, y) => x / y),
  floor_divide: binary((x, y) => Math.floor(x / y)),
  pow: binary((x, y) => x ** y),
  remainder: binary((x, y) => x - y * Math.floor(x / y)),
  eq: binary((x, y) => truth(x === y)),
  ne: binary((x, y) => truth(x !== y)),
  ge: binary((x, y) => truth(x >= y)),
  gt: binary((x, y) => truth(x > y)),
  le: binary((x, y) => truth(x <= y)),
  lt: binary((x, y) => truth(x < y)),
};
