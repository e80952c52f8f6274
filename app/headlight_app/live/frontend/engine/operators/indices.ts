// Values picked by, and written at, the indices that other values hold.

import type { Value } from "../types.ts";
import { sizeOf, stridesOf } from "./shapes.ts";

/** For each row of the last axis, the places of its largest numbers, the largest first; of equal ones the first. */
function largest(row: Float32Array, count: number): number[] {
  return Array.from(row.keys())
    .sort((one, other) => (row[other] as number) - (row[one] as number) || one - other)
    .slice(0, count);
}

function rowsOf({ shape, numbers }: Value): Float32Array[] {
  const count = shape.at(-1) ?? 1;
  return Array.from({ length: numbers.length / count }, (_, row) => numbers.subarray(row * count, (row + 1) * count));
}

export function topk_indices(value: Value, count: number): Value {
  const chosen = rowsOf(value).flatMap((row) => largest(row, count));
  return { shape: value.shape.with(-1, count), numbers: Float32Array.from(chosen) };
}

export function topk_values(value: Value, count: number): Value {
  return gather(value, topk_indices(value, count));
}

export function argmax(value: Value): Value {
  return {
    shape: value.shape.slice(0, -1),
    numbers: Float32Array.from(rowsOf(value), (row) => largest(row, 1)[0] as number),
  };
}

/** From each row, the numbers at its indices. */
export function gather(value: Value, { shape, numbers }: Value): Value {
  const [from, count] = [value.shape.at(-1) as number, shape.at(-1) as number];
  return { shape, numbers: numbers.map((index, at) => value.numbers[Math.floor(at / count) * from + index] as number) };
}

/** The value with other numbers at the indices of each row. */
export function scatter(value: Value, indices: Value, written: Value | number): Value {
  const [from, count] = [value.shape.at(-1) as number, indices.shape.at(-1) as number];
  const numbers = value.numbers.slice();
  indices.numbers.forEach((index, at) => {
    numbers[Math.floor(at / count) * from + index] =
      typeof written === "number" ? written : (written.numbers[at] as number);
  });
  return { shape: value.shape, numbers };
}

/** The parts at indices along the first axes, one value of indices for each. */
export function index({ shape, numbers }: Value, indices: readonly Value[]): Value {
  const strides = stridesOf(shape);
  const rest = shape.slice(indices.length);
  const size = sizeOf(rest);
  const places = indices.reduce((one, other) => (one.numbers.length < other.numbers.length ? other : one));
  const picked = new Float32Array(places.numbers.length * size);
  places.numbers.forEach((_, row) => {
    let start = 0;
    indices.forEach((each, axis) => {
      const at = each.numbers[each.numbers.length === 1 ? 0 : row] as number;
      start += (at < 0 ? at + (shape[axis] as number) : at) * (strides[axis] as number);
    });
    picked.set(numbers.subarray(start, start + size), row * size);
  });
  return { shape: [...places.shape, ...rest], numbers: picked };
}

/** Where a mask of the first axes is true. */
const placesOf = (mask: Value) => Array.from(mask.numbers.keys()).filter((place) => mask.numbers[place]);

export function masked_rows({ shape, numbers }: Value, mask: Value): Value {
  const rest = shape.slice(mask.shape.length);
  const [places, size] = [placesOf(mask), sizeOf(rest)];
  const picked = new Float32Array(places.length * size);
  for (const [row, place] of places.entries())
    picked.set(numbers.subarray(place * size, (place + 1) * size), row * size);
  return { shape: [places.length, ...rest], numbers: picked };
}

/** The value with other rows where the mask is true. */
export function with_masked_rows({ shape, numbers }: Value, mask: Value, rows: Value): Value {
  const size = sizeOf(shape.slice(mask.shape.length));
  const changed = numbers.slice();
  for (const [row, place] of placesOf(mask).entries())
    changed.set(rows.numbers.subarray(row * size, (row + 1) * size), place * size);
  return { shape, numbers: changed };
}
