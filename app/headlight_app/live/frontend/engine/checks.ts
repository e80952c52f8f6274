// What a model cannot run, in the sentences of Python (`Transformer`, `token_tensor`, `Stack.position_ids`).

import { formatCount, formatNumber } from "../../../ui/frontend/dom/numbers.ts";
import { Refused } from "./refused.ts";
import type { PlanFile, PositionLimits } from "./types.ts";

/** Throws a Refused for a text without tokens, for too many tokens, and for unknown ones. */
export function checkText(plan: PlanFile, ids: readonly number[]): void {
  const limit = plan.context_length;
  const largest = ids.reduce((one, other) => Math.max(one, other), 0);
  if (!ids.length)
    throw new Refused(
      "This text has no tokens: the model's tokenizer drops all of it. Type a text like those that the model was " +
        "trained on.",
    );
  if (ids.length > limit)
    throw new Refused(`The text has ${ids.length} tokens; this model reads at most ${limit}. Shorten it.`);
  if (largest >= plan.vocabulary_size)
    throw new Refused(
      `The tokenizer gave the token id ${largest}, but the model knows ${plan.vocabulary_size} tokens.`,
    );
}

/** Throws a Refused for a position that an encoding does not have. */
export function checkPositions(positions: Float32Array, encodings: readonly PositionLimits[]): void {
  for (const { title, range, integers } of encodings) {
    const [first, last] = range;
    const token = positions.findIndex((at) => !(at >= first && at <= last) || (integers && !Number.isInteger(at)));
    if (token < 0) continue;
    const [from, to] = range.map(formatCount);
    throw new Refused(
      `Token ${token} cannot be at position ${formatNumber(positions[token] as number, 6)}: the positional encoding ` +
        `${title} has ${integers ? "integer positions" : "positions"} from ${from} to ${to}.`,
    );
  }
}
