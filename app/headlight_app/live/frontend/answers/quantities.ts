// The quantities of a head that need only what runs record, as in app/headlight_app/explore/answers/quantities.py.

import type { HeadChoice } from "../../../ui/frontend/contract.ts";
import { table } from "../../../ui/frontend/dom/table.ts";
import { Refused } from "../engine/refused.ts";
import type { Value } from "../engine/types.ts";
import { quoted } from "../quoted.ts";
import { QUANTITIES } from "../routes.ts";
import { headOf } from "./codes.ts";
import type { Run, Runs } from "./runs.ts";
import { pathOf } from "./trace.ts";
import type { GroupFacts, ModelFacts, QuantityFacts } from "./types.ts";
import { known } from "./words.ts";

/** Numbers of one head and the cells that count, [query key], row by row. */
export interface HeadNumbers {
  readonly numbers: Float32Array;
  readonly allowed: Uint8Array;
}

export type Head = readonly [layer: number, head: number];

export interface QuantityRequest {
  readonly runs: Runs;
  readonly run: Run;
  readonly group: GroupFacts;
  readonly choice: HeadChoice;
  readonly otherHead: Head;
}

type Compute = (request: QuantityRequest, head: Head) => HeadNumbers;

const COMPUTE: Record<(typeof QUANTITIES)[number], Compute> = table({
  weights,
  scores: ({ run, group }, head) => ({ ...recorded(run, group, head, "scores"), allowed: everyCell(run) }),
  masked_scores: ({ run, group }, head) => recorded(run, group, head, "masked_scores"),
  rollout,
  minus_head: (request, head) => subtracted(weights(request, head), weights(request, request.otherHead)),
  minus_trained: minusTrained,
  minus_text: minusText,
});

/** The quantity of a name. Throws a Refused for an unknown one, and for one that needs more than a run. */
export function quantityOf(name: string, facts: ModelFacts): QuantityFacts & { compute: Compute } {
  const quantity = known(facts.quantities, "quantity", name);
  const compute: Compute | undefined = COMPUTE[name as keyof typeof COMPUTE];
  if (!compute) {
    const titles = QUANTITIES.map((each) => facts.quantities[each].title.toLowerCase());
    throw new Refused(`A page without a server shows ${titles.join(", ")} of a head, not ${quoted(quantity.title)}.`);
  }
  if (quantity.refusal) throw new Refused(quantity.refusal);
  return { ...quantity, compute };
}

function recorded({ trace }: Run, group: GroupFacts, [layer, head]: Head, point: string): HeadNumbers {
  const [values, mask] = [point, "mask"].map((each) => trace.value(`${pathOf(group, layer)}.${each}`));
  const allowed = Uint8Array.from(headOf(mask, head).numbers, (cell) => Number(cell > 0));
  return { numbers: headOf(values, head).numbers, allowed };
}

function everyCell({ tokens }: Run) {
  return new Uint8Array(tokens.length ** 2).fill(1);
}

function weights({ run, group }: QuantityRequest, head: Head) {
  return recorded(run, group, head, "weights");
}

function subtracted(one: HeadNumbers, other: HeadNumbers): HeadNumbers {
  return {
    numbers: one.numbers.map((number, cell) => number - other.numbers[cell]),
    allowed: one.allowed.map((cell, at) => cell | other.allowed[at]),
  };
}

function minusTrained(request: QuantityRequest, head: Head): HeadNumbers {
  const { runs, run } = request;
  if (!run.isChanged)
    throw new Refused("Nothing is changed yet. Switch a head off or replace a part to see the difference.");
  return subtracted(weights(request, head), weights({ ...request, run: runs.asTrained(run) }, head));
}

function minusText(request: QuantityRequest, head: Head): HeadNumbers {
  const { runs, run, choice } = request;
  if (!choice.other_text.trim())
    throw new Refused("Type the text to compare with; it must have as many tokens as this text.");
  const other = runs.of({ ...run.question, masked_positions: [], text: choice.other_text });
  if (other.tokens.length !== run.tokens.length)
    throw new Refused(
      "Two texts are compared token by token, so they must have equally many tokens: " +
        `this one has ${run.tokens.length} and the other ${other.tokens.length}.`,
    );
  return subtracted(weights(request, head), weights({ ...request, run: other }, head));
}

/** The share of each token in each token after a layer (Abnar and Zuidema 2020), as `attention_rollout` in Python. */
function rollout({ runs, run, group }: QuantityRequest, [layer]: Head): HeadNumbers {
  const { length } = run.tokens;
  const hasResidual = runs.model.facts.has_residual;
  let found = identity(length);
  for (let each = 0; each <= layer; each++) {
    const mean = meanOfHeads(run.trace.value(`${pathOf(group, each)}.weights`));
    const mixed = hasResidual ? identity(length).map((cell, at) => 0.5 * cell + 0.5 * mean[at]) : mean;
    found = product(renormalized(mixed, length), found, length);
  }
  return { numbers: Float32Array.from(found), allowed: Uint8Array.from(found, (share) => Number(share > 0)) };
}

function identity(length: number): Float64Array {
  return Float64Array.from({ length: length * length }, (_, cell) => Number(cell % (length + 1) === 0));
}

function meanOfHeads({ shape, numbers }: Value): Float64Array {
  const [heads, rows, columns] = shape;
  const size = rows * columns;
  const mean = new Float64Array(size);
  numbers.forEach((weight, at) => {
    mean[at % size] += Math.max(weight, 0) / heads;
  });
  return mean;
}

/** Rows that sum to one; an empty row stays empty. */
export function renormalized<Numbers extends Float32Array | Float64Array>(numbers: Numbers, width: number): Numbers {
  const found = numbers.slice() as Numbers;
  for (let start = 0; start < found.length; start += width) {
    let total = 0;
    for (let at = start; at < start + width; at++) total += numbers[at];
    for (let at = start; at < start + width; at++) found[at] = total > 0 ? numbers[at] / total : 0;
  }
  return found;
}

function product(left: Float64Array, right: Float64Array, length: number): Float64Array {
  const found = new Float64Array(length * length);
  for (let row = 0; row < length; row++)
    for (let inner = 0; inner < length; inner++) {
      const share = left[row * length + inner];
      if (share)
        for (let column = 0; column < length; column++)
          found[row * length + column] += share * right[inner * length + column];
    }
  return found;
}
