// Products of matrices, by the WebAssembly kernel.

import type { Kernel } from "../kernel.ts";
import type { Value } from "../types.ts";
import type { Weight } from "../weights.ts";
import { expand, permute, sizeOf } from "./shapes.ts";

export function products(kernel: Kernel) {
  return {
    /** x W^T + b, where W is [outputs, inputs]. */
    linear(x: Value, weight: Weight, bias: Value | null): Value {
      const shape = x.shape.with(-1, weight.shape[0] as number);
      if (weight.panels) return { shape, numbers: kernel.multiply(x.numbers, weight.panels, bias?.numbers ?? null) };
      const [outputs = 0, inputs = 0] = weight.shape;
      const rows = x.numbers.length / inputs;
      const { numbers } = permute(weight, [1, 0]);
      const product = kernel.products(x.numbers, numbers, 1, rows, inputs, outputs);
      if (bias)
        for (let at = 0; at < product.length; at++)
          product[at] = (product[at] as number) + (bias.numbers[at % outputs] as number);
      return { shape, numbers: product };
    },

    /** The rows of a table. */
    embedding(table: Weight, { shape, numbers }: Value): Value {
      const width = table.shape[1] as number;
      if (table.panels) return { shape: [...shape, width], numbers: kernel.columns(table.panels, numbers) };
      const rows = new Float32Array(numbers.length * width);
      for (const [row, id] of numbers.entries())
        rows.set(table.numbers.subarray(id * width, (id + 1) * width), row * width);
      return { shape: [...shape, width], numbers: rows };
    },

    /** The product of each pair of matrices along the first axes. */
    matmul(a: Value, b: Value): Value {
      const [m = 1, k = 1] = a.shape.slice(-2);
      const n = b.shape.at(-1) as number;
      const [one, other] = [a.shape.slice(0, -2), b.shape.slice(0, -2)];
      const rank = Math.max(one.length, other.length);
      const size = (axes: readonly number[], axis: number) => axes[axis - rank + axes.length] ?? 1;
      const axes = Array.from({ length: rank }, (_, axis) => Math.max(size(one, axis), size(other, axis)));
      const spread = (value: Value, matrix: number[]) =>
        sizeOf(value.shape) === sizeOf([...axes, ...matrix]) ? value : expand(value, [...axes, ...matrix]);
      const [left, right] = [spread(a, [m, k]), spread(b, [k, n])];
      return { shape: [...axes, m, n], numbers: kernel.products(left.numbers, right.numbers, sizeOf(axes), m, k, n) };
    },
  };
}

/** x where L x = b for each lower triangular L, whose diagonal is 1: row by row. */
export function solve_unit_lower(lower: Value, b: Value): Value {
  const [rows = 1, columns = 1] = b.shape.slice(-2);
  const numbers = b.numbers.slice();
  for (let matrix = 0; matrix * rows * columns < numbers.length; matrix++)
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < i; j++) {
        const factor = lower.numbers[(matrix * rows + i) * rows + j] as number;
        const [to, from] = [(matrix * rows + i) * columns, (matrix * rows + j) * columns];
        for (let c = 0; c < columns; c++)
          numbers[to + c] = (numbers[to + c] as number) - factor * (numbers[from + c] as number);
      }
  return { shape: b.shape, numbers };
}
