// What becomes of the numbers along some axes: sums, norms, softmax.

import type { Value } from "../types.ts";
import { permute, sizeOf } from "./shapes.ts";

/** One number of all along some axes. */
function reduction(
  start: number,
  next: (sum: number, x: number) => number,
  end: (sum: number, count: number) => number,
) {
  return (value: Value, axes: readonly number[], keep: boolean): Value => {
    const { shape } = value;
    const others = shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis));
    const isLast = others.every((axis, place) => axis === place);
    const { numbers } = isLast ? value : permute(value, [...others, ...axes]);
    const count = sizeOf(axes.map((axis) => shape[axis] as number));
    const reduced = new Float32Array(sizeOf(others.map((axis) => shape[axis] as number)));
    for (let row = 0, at = 0; row < reduced.length; row++) {
      let sum = start;
      for (const stop = at + count; at < stop; at++) sum = next(sum, numbers[at] as number);
      reduced[row] = end(sum, count);
    }
    const left = shape.flatMap((size, axis) => (others.includes(axis) ? [size] : keep ? [1] : []));
    return { shape: left, numbers: reduced };
  };
}

/** A function of each row: of the numbers along the last axis, which it writes to the same place of another array. */
function ofRows({ shape, numbers }: Value, write: (row: Float32Array, to: Float32Array) => void): Value {
  const count = shape.at(-1) ?? 1;
  const made = new Float32Array(numbers.length);
  for (let at = 0; at < numbers.length; at += count)
    write(numbers.subarray(at, at + count), made.subarray(at, at + count));
  return { shape, numbers: made };
}

export function softmax(value: Value): Value {
  return ofRows(value, (row, to) => {
    let largest = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < row.length; i++) largest = Math.max(largest, row[i] as number);
    let sum = 0;
    for (let i = 0; i < row.length; i++) {
      to[i] = Math.exp((row[i] as number) - largest);
      sum += to[i] as number;
    }
    for (let i = 0; i < row.length; i++) to[i] = (to[i] as number) / sum;
  });
}

export function cumsum(value: Value): Value {
  return ofRows(value, (row, to) => {
    let sum = 0;
    for (let i = 0; i < row.length; i++) {
      sum += row[i] as number;
      to[i] = sum;
    }
  });
}

export function layer_norm(value: Value, weight: Value | null, bias: Value | null, epsilon: number): Value {
  return ofRows(value, (row, to) => {
    let mean = 0;
    for (let i = 0; i < row.length; i++) mean += (row[i] as number) / row.length;
    let variance = 0;
    for (let i = 0; i < row.length; i++) variance += ((row[i] as number) - mean) ** 2 / row.length;
    const scale = 1 / Math.sqrt(variance + epsilon);
    for (let i = 0; i < row.length; i++)
      to[i] = ((row[i] as number) - mean) * scale * (weight?.numbers[i] ?? 1) + (bias?.numbers[i] ?? 0);
  });
}

export function rms_norm(value: Value, weight: Value | null, epsilon: number): Value {
  return ofRows(value, (row, to) => {
    let square = 0;
    for (let i = 0; i < row.length; i++) square += (row[i] as number) ** 2;
    const scale = 1 / Math.sqrt(square / row.length + epsilon);
    for (let i = 0; i < row.length; i++) to[i] = (row[i] as number) * scale * (weight?.numbers[i] ?? 1);
  });
}

/** The cells of each matrix at most so far above its diagonal; the others are 0. */
export function tril({ shape, numbers }: Value, above: number): Value {
  const [rows = 1, columns = 1] = shape.slice(-2);
  return {
    shape,
    numbers: numbers.map((x, at) => ((at % columns) - (Math.floor(at / columns) % rows) > above ? 0 : x)),
  };
}

const itself = (x: number) => x;
export const sum = reduction(0, (total, x) => total + x, itself);
export const mean = reduction(
  0,
  (total, x) => total + x,
  (total, count) => total / count,
);
export const max = reduction(Number.NEGATIVE_INFINITY, Math.max, itself);
export const min = reduction(Number.POSITIVE_INFINITY, Math.min, itself);
