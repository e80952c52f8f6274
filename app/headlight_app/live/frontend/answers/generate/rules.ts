// The rules of a checkpoint for generation, as in model/headlight/generation/rules.py.

import { Refused } from "../../engine/refused.ts";
import type { GenerationRules } from "../types.ts";

/** The logits of the token after `ids`, of which the first `promptLength` were given; -infinity for one not allowed. */
export function followed(
  rules: GenerationRules,
  logits: Float32Array,
  ids: readonly number[],
  promptLength: number,
): Float64Array {
  const changed = Float64Array.from(logits);
  const { repetition_penalty: penalty } = rules;
  for (const id of new Set(ids)) changed[id] = changed[id] < 0 ? changed[id] * penalty : changed[id] / penalty;
  const isForced = rules.forced_first_token_id !== null && promptLength === 1;
  const isFirst = ids.length === promptLength + Number(isForced); // the first token that is not forced
  const forbidden = [
    ...repeating(ids, rules.no_repeat_ngram_size),
    ...rules.suppressed_token_ids,
    ...(isFirst ? rules.first_suppressed_token_ids : []),
  ];
  for (const id of forbidden) changed[id] = Number.NEGATIVE_INFINITY;
  if (isForced && ids.length === 1) {
    changed.fill(Number.NEGATIVE_INFINITY);
    changed[rules.forced_first_token_id as number] = 0;
  }
  if (!changed.some(Number.isFinite))
    throw new Refused("The checkpoint's generation config allows no token here; the text cannot be continued.");
  return changed;
}

/** The tokens that would end a sequence of this size that occurs already. */
function repeating(ids: readonly number[], size: number): number[] {
  if (size === 0 || ids.length + 1 < size) return [];
  const last = ids.slice(ids.length - size + 1).join();
  const starts = Array.from({ length: Math.max(ids.length - size + 1, 0) }, (_, start) => start);
  return starts
    .filter((start) => ids.slice(start, start + size - 1).join() === last)
    .map((start) => ids[start + size - 1]);
}
