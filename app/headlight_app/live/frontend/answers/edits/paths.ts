// Paths of values, and whether their numbers can be computed with.

import type { Value } from "../../engine/types.ts";

/** The last part of a path: the kind of value. */
export function hookPointOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** Whether a path is on the residual stream, from the embedding to the logits. */
export function isOnStream(path: string): boolean {
  const point = hookPointOf(path);
  return point.startsWith("residual") || ["embedding", "final_residual", "logits"].includes(point);
}

/** Whether the squares of each vector have a finite sum in 32 bits. */
export function canBeNormalized({ shape, numbers }: Value): boolean {
  const width = shape.at(-1) as number;
  for (let start = 0; start < numbers.length; start += width) {
    let sum = 0;
    for (let at = start; at < start + width; at++) sum += numbers[at] * numbers[at];
    if (!Number.isFinite(Math.fround(sum))) return false;
  }
  return true;
}
