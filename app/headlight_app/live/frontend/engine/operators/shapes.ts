// Values in other shapes, and parts of them. A value that is only called another shape shares its numbers; all others
// are copies, so that a change of one value never reaches another.

import type { Value } from "../types.ts";

export const sizeOf = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);

/** How far apart neighbours along each axis are. */
export function stridesOf(shape: readonly number[]): number[] {
  const strides = shape.map(() => 1);
  for (let axis = shape.length - 2; axis >= 0; axis--)
    strides[axis] = (strides[axis + 1] as number) * (shape[axis + 1] as number);
  return strides;
}

/** A copy of the numbers that lie so far apart along each axis, from an offset on. */
function strided(from: Float32Array, shape: readonly number[], strides: readonly number[], offset = 0): Value {
  const numbers = new Float32Array(sizeOf(shape));
  const last = shape.length - 1;
  let to = 0;
  const walk = (axis: number, start: number): void => {
    const count = shape[axis] as number;
    const step = strides[axis] as number;
    if (axis < last) for (let i = 0, at = start; i < count; i++, at += step) walk(axis + 1, at);
    else for (let i = 0, at = start; i < count; i++, at += step) numbers[to++] = from[at] as number;
  };
  if (last < 0) numbers[0] = from[offset] as number;
  else walk(0, offset);
  return { shape, numbers };
}

/** A size of -1 is what the number of cells leaves. */
export function reshape({ shape: before, numbers }: Value, shape: readonly number[]): Value {
  const others = shape.reduce((product, size) => (size < 0 ? product : product * size), 1);
  return { shape: shape.map((size) => (size < 0 ? sizeOf(before) / others : size)), numbers };
}

/** Repeats a value along new first axes, and along axes of size 1; -1 keeps a size. */
export function expand({ shape, numbers }: Value, wanted: readonly number[]): Value {
  const added = wanted.length - shape.length;
  const own = stridesOf(shape);
  const sizes = wanted.map((size, axis) => (size < 0 ? (shape[axis - added] as number) : size));
  const strides = sizes.map((_, axis) =>
    axis < added || shape[axis - added] === 1 ? 0 : (own[axis - added] as number),
  );
  return strided(numbers, sizes, strides);
}

export function permute({ shape, numbers }: Value, order: readonly number[]): Value {
  const strides = stridesOf(shape);
  const of = (sizes: readonly number[]) => order.map((axis) => sizes[axis] as number);
  return strided(numbers, of(shape), of(strides));
}

/** From `start` to before `end` (null: to the last); negative numbers count from the end. */
export function slice({ shape, numbers }: Value, axis: number, start: number, end: number | null, step: number): Value {
  const size = shape[axis] as number;
  const place = (at: number) => Math.min(size, Math.max(0, at < 0 ? at + size : at));
  const first = place(start);
  const count = Math.max(0, Math.ceil((place(end ?? size) - first) / step));
  const strides = stridesOf(shape);
  const offset = first * (strides[axis] as number);
  return strided(numbers, shape.with(axis, count), strides.with(axis, step * (strides[axis] as number)), offset);
}

export function select(value: Value, axis: number, index: number): Value {
  const at = index < 0 ? index + (value.shape[axis] as number) : index;
  const { shape, numbers } = slice(value, axis, at, at + 1, 1);
  return { shape: shape.toSpliced(axis, 1), numbers };
}

export function cat(values: readonly Value[], axis: number): Value {
  const [{ shape }] = values as [Value];
  const count = values.reduce((sum, value) => sum + (value.shape[axis] as number), 0);
  const wanted = shape.with(axis, count);
  const joined = { shape: wanted, numbers: new Float32Array(sizeOf(wanted)) };
  const blocks = sizeOf(shape.slice(0, axis));
  let to = 0;
  for (let block = 0; block < blocks; block++)
    for (const { numbers } of values) {
      const size = numbers.length / blocks;
      joined.numbers.set(numbers.subarray(block * size, (block + 1) * size), to);
      to += size;
    }
  return joined;
}

export function flip({ shape, numbers }: Value, axes: readonly number[]): Value {
  const own = stridesOf(shape);
  const turned = new Set(axes.map((axis) => (axis < 0 ? axis + shape.length : axis)));
  const strides = own.map((stride, axis) => (turned.has(axis) ? -stride : stride));
  const last = [...turned].reduce((offset, axis) => offset + ((shape[axis] as number) - 1) * (own[axis] as number), 0);
  return strided(numbers, shape, strides, last);
}

export function roll(value: Value, [shift = 0]: readonly number[], [axis = 0]: readonly number[]): Value {
  const at = axis < 0 ? axis + value.shape.length : axis;
  const size = value.shape[at] as number;
  const start = (((size - shift) % size) + size) % size;
  return cat([slice(value, at, start, null, 1), slice(value, at, 0, start, 1)], at);
}

export function full(shape: readonly number[], number: number): Value {
  return { shape, numbers: new Float32Array(sizeOf(shape)).fill(number) };
}

export function arange(start: number, end: number, step: number): Value {
  const count = Math.max(0, Math.ceil((end - start) / step));
  return { shape: [count], numbers: Float32Array.from({ length: count }, (_, i) => start + i * step) };
}
