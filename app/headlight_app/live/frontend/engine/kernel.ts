// Matrix products by the WebAssembly kernel. Weights stay in its memory, packed in panels of eight columns; what is
// multiplied with them is copied in, and the product out: both are small.

import { KERNEL_CODE } from "./kernel_code.ts";
import { Refused } from "./refused.ts";

const PANEL = 8;
const BYTES = 4;
const PAGE = 65_536;

/** A matrix [k, n] in the kernel's memory. */
export interface Panels {
  readonly pointer: number;
  readonly k: number;
  readonly n: number;
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  pack(from: number, to: number, k: number, n: number, rowStep: number, columnStep: number): void;
  multiply(a: number, panels: number, bias: number, c: number, m: number, k: number, n: number): void;
}

export interface Kernel {
  /** Packs a matrix for good: its cell (i, j) is at i * rowStep + j * columnStep. */
  keep(numbers: Float32Array, k: number, n: number, rowStep: number, columnStep: number): Panels;
  /** The numbers of some columns of a kept matrix, one column after the other. */
  columns(panels: Panels, chosen: Float32Array): Float32Array;
  /** a [m, k] x the matrix + the bias of each column. */
  multiply(a: Float32Array, panels: Panels, bias: Float32Array | null): Float32Array;
  /** a [m, k] x b [k, n] of each of several pairs of matrices, one after the other. */
  products(a: Float32Array, b: Float32Array, count: number, m: number, k: number, n: number): Float32Array;
}

/** Throws a Refused if the browser has no WebAssembly SIMD. */
export async function openKernel(): Promise<Kernel> {
  const code = Uint8Array.from(atob(KERNEL_CODE), (letter) => letter.charCodeAt(0));
  if (typeof WebAssembly === "undefined" || !WebAssembly.validate(code))
    throw new Refused("This browser cannot compute with WebAssembly SIMD, which the model needs; update it.");
  const { instance } = await WebAssembly.instantiate(code);
  return kernelOf(instance.exports as unknown as Exports);
}

function kernelOf({ memory, pack, multiply }: Exports): Kernel {
  let kept = 16; // where the memory is free; 0 stands for no bias

  /** Room for so many numbers after others: their pointers. */
  function room(...counts: number[]): number[] {
    const pointers = [kept];
    for (const count of counts) pointers.push((pointers.at(-1) as number) + Math.ceil(count / 4) * 4 * BYTES);
    const missing = (pointers.at(-1) as number) - memory.buffer.byteLength;
    if (missing > 0) grow(memory, missing);
    return pointers;
  }
  const write = (numbers: Float32Array, pointer: number) =>
    new Float32Array(memory.buffer).set(numbers, pointer / BYTES);
  const read = (pointer: number, count: number) => new Float32Array(memory.buffer, pointer, count);

  /** The rows of a product whose columns fill whole panels, without the columns that are added for that. */
  function result(pointer: number, m: number, n: number, to: Float32Array, at: number): void {
    const wide = padded(n);
    const numbers = read(pointer, m * wide);
    if (wide === n) to.set(numbers, at);
    else for (let i = 0; i < m; i++) to.set(numbers.subarray(i * wide, i * wide + n), at + i * n);
  }

  return {
    keep(numbers, k, n, rowStep, columnStep) {
      const count = k * padded(n);
      const [pointer = 0, from = 0] = room(count, numbers.length);
      write(numbers, from);
      pack(from, pointer, k, n, rowStep, columnStep);
      kept = from;
      return { pointer, k, n };
    },
    columns({ pointer, k, n }, chosen) {
      const numbers = read(pointer, k * padded(n));
      const found = new Float32Array(chosen.length * k);
      chosen.forEach((column, row) => {
        const start = Math.floor(column / PANEL) * PANEL * k + (column % PANEL);
        for (let i = 0; i < k; i++) found[row * k + i] = numbers[start + i * PANEL] as number;
      });
      return found;
    },
    multiply(a, panels, bias) {
      const { k, n } = panels;
      const m = a.length / k;
      const wide = padded(n);
      const [from = 0, added = 0, to = 0] = room(a.length, bias ? wide : 0, m * wide);
      write(a, from);
      if (bias) {
        read(added, wide).fill(0);
        write(bias, added);
      }
      multiply(from, panels.pointer, bias ? added : 0, to, m, k, wide);
      const product = new Float32Array(m * n);
      result(to, m, n, product, 0);
      return product;
    },
    products(a, b, count, m, k, n) {
      const wide = padded(n);
      const [left = 0, right = 0, panels = 0, to = 0] = room(m * k, k * n, k * wide, m * wide);
      const product = new Float32Array(count * m * n);
      for (let each = 0; each < count; each++) {
        write(a.subarray(each * m * k, (each + 1) * m * k), left);
        write(b.subarray(each * k * n, (each + 1) * k * n), right);
        pack(right, panels, k, n, n, 1);
        multiply(left, panels, 0, to, m, k, wide);
        result(to, m, n, product, each * m * n);
      }
      return product;
    },
  };
}

const padded = (n: number) => Math.ceil(n / PANEL) * PANEL;

function grow(memory: WebAssembly.Memory, bytes: number): void {
  try {
    memory.grow(Math.ceil(bytes / PAGE));
  } catch {
    throw new Refused("There is not enough memory for this model and text on this device.");
  }
}
