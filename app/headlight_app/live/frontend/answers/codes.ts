// Weights as byte codes for thumbnails, as in model/headlight/rendering/html.py and tracing/recompute.py.

import type { Value } from "../engine/types.ts";

/** A matrix, row by row. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly numbers: Float32Array;
}

/** The matrix of one head of a value, [head query key]. */
export function headOf({ shape, numbers }: Value, head: number): Matrix {
  const [, rows, columns] = shape;
  return { rows, columns, numbers: numbers.subarray(head * rows * columns, (head + 1) * rows * columns) };
}

/** The codes of a head, at most `side` cells a side: 0 in forbidden cells, else 1 to 255 for the root of 0 to 1. */
export function codesOf(weights: Matrix, mask: Matrix, side: number): Uint8Array {
  const pooled = maxPool(weights, side).numbers;
  const allowed = maxPool(mask, side).numbers;
  const codes = new Uint8Array(pooled.length);
  for (let cell = 0; cell < codes.length; cell++) if (allowed[cell] > 0) codes[cell] = codeOf(pooled[cell]);
  return codes;
}

function codeOf(weight: number): number {
  const share = Number.isNaN(weight) ? 0 : Math.min(Math.max(weight, 0), 1);
  return 1 + Math.round(254 * Math.sqrt(share));
}

/** How many cells a side has of a thumbnail. */
export function pooledSide(length: number, side: number): number {
  return Math.min(length, side);
}

/** The largest number of each block, so that no side has more than `side` cells. */
function maxPool(matrix: Matrix, side: number): Matrix {
  const { rows, columns, numbers } = matrix;
  if (rows <= side && columns <= side) return matrix;
  const [rowStarts, columnStarts] = [blockStarts(rows, side), blockStarts(columns, side)];
  const [high, wide] = [rowStarts.length - 1, columnStarts.length - 1];
  const found = new Float32Array(high * wide).fill(Number.NEGATIVE_INFINITY);
  for (let row = 0; row < high; row++)
    for (let column = 0; column < wide; column++)
      for (let y = rowStarts[row]; y < rowStarts[row + 1]; y++)
        for (let x = columnStarts[column]; x < columnStarts[column + 1]; x++)
          found[row * wide + column] = Math.max(found[row * wide + column], numbers[y * columns + x]);
  return { rows: high, columns: wide, numbers: found };
}

/** The starts of at most `side` blocks of almost equal size, and the end of the last one. */
function blockStarts(length: number, side: number): number[] {
  const count = pooledSide(length, side);
  return Array.from({ length: count + 1 }, (_, block) => Math.floor((block * length) / count));
}
