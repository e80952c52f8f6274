// The weights of a plan: decoded from the file, and those of linear maps packed for the kernel.

import type { Kernel, Panels } from "./kernel.ts";
import { Refused } from "./refused.ts";
import type { Argument, PlanFile, Program, StoredWeight, Value } from "./types.ts";

/** A weight; that of linear maps alone is in the kernel's memory, and has no numbers here. */
export interface Weight extends Value {
  readonly panels?: Panels;
}

/** Throws a Refused if the file is cut off. */
export function openWeights(plan: PlanFile, file: ArrayBuffer, kernel: Kernel): Weight[] {
  const linear = linearMaps(plan);
  const halves = halfPrecision();
  return plan.weights.map((stored, number) => {
    if (stored.start + bytesOf(stored) > file.byteLength)
      throw new Refused("The file of this model is cut off: its weights are not complete. Get it again.");
    const { shape } = stored;
    const numbers = decoded(stored, file, halves);
    const [outputs = 0, inputs = 0] = shape;
    if (!linear.has(number)) return { shape, numbers };
    return { shape, numbers: numbers.subarray(0, 0), panels: kernel.keep(numbers, inputs, outputs, 1, inputs) };
  });
}

/** The weights that are read by linear maps and as tables of embeddings, and nowhere else. */
function linearMaps(plan: PlanFile): Set<number> {
  const maps = new Set<number>();
  const others = new Set<number>();
  const programs: Program[] = Object.values(plan.hidden);
  for (const { steps } of plan.logits ? [...programs, plan.logits] : programs)
    for (const [operator, ...given] of steps)
      given.forEach((argument, place) => {
        const number = weightNumber(argument);
        if (operator === "linear" && place === 1 && number !== null) maps.add(number);
        else if (number !== null && !(operator === "embedding" && place === 0)) others.add(number);
      });
  return new Set([...maps].filter((number) => !others.has(number)));
}

function weightNumber(argument: Argument): number | null {
  return argument !== null && typeof argument === "object" && "weight" in argument ? argument.weight : null;
}

const count = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);

function bytesOf({ shape, type }: StoredWeight): number {
  const bytes = { float32: 4, float16: 2, int8: 1 }[type];
  return count(shape) * bytes + (type === "int8" ? 4 * (shape[0] as number) : 0);
}

function decoded({ shape, type, start }: StoredWeight, file: ArrayBuffer, halves: Float32Array): Float32Array {
  const size = count(shape);
  if (type === "float32") return new Float32Array(file.slice(start, start + 4 * size));
  const numbers = new Float32Array(size);
  if (type === "float16") {
    const codes = new Uint16Array(file, start, size);
    for (let at = 0; at < size; at++) numbers[at] = halves[codes[at] as number] as number;
    return numbers;
  }
  const scales = new Float32Array(file, start, shape[0]);
  const codes = new Int8Array(file, start + 4 * scales.length, size);
  const columns = size / scales.length;
  for (let at = 0; at < size; at++) numbers[at] = (codes[at] as number) * (scales[Math.floor(at / columns)] as number);
  return numbers;
}

/** The number of each of the 65,536 half-precision codes. */
function halfPrecision(): Float32Array {
  return Float32Array.from({ length: 1 << 16 }, (_, code) => {
    const sign = code & 0x8000 ? -1 : 1;
    const exponent = (code >> 10) & 0x1f;
    const fraction = (code & 0x3ff) / 1024;
    if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
  });
}
