// The view of the chosen heads, as in app/headlight_app/explore/answers/head_view.py.

import type { HeadViewAnswer, HeadViewRequest } from "../../../explore/frontend/contract.ts";
import { Refused } from "../engine/refused.ts";
import { parseHead, selectedGroup, selectedHeads } from "./head_choice.ts";
import { type Head, type HeadNumbers, type QuantityRequest, quantityOf } from "./quantities.ts";
import type { Run, Runs } from "./runs.ts";
import { type TokenFilter, tokenFilter } from "./token_filter.ts";
import { joined } from "./trace.ts";
import type { ModelFacts, QuantityFacts, Reply } from "./types.ts";
import { known } from "./words.ts";

const [FORBIDDEN, SHOWN, LEFT_OUT] = [0, 1, 2]; // the states of a cell

/** The heads of a view, with their numbers of the displayed tokens. */
interface View extends QuantityRequest {
  readonly quantity: ReturnType<typeof quantityOf>;
  readonly heads: readonly Head[];
  readonly values: HeadValues;
}

interface HeadValues {
  readonly heads: readonly HeadNumbers[];
  readonly axes: TokenFilter["axes"];
  readonly rules: readonly string[];
}

export function answerHeadView(runs: Runs, request: HeadViewRequest): Reply<HeadViewAnswer> {
  const view = viewOf(runs, request);
  const { choice, quantity, values } = view;
  const [rows, columns] = values.axes;
  const combined = combinedHeads(values.heads, quantity.additive, choice.head_reduction);
  const keptOf = (numbers: Float32Array) =>
    isCut(view)
      ? topMass(numbers, columns.labels.length, choice.top_mass / 100)
      : new Uint8Array(numbers.length).fill(1);
  const within = keptOf(combined);
  const states = Uint8Array.from(combined, (_, cell) =>
    values.heads.some(({ allowed }) => allowed[cell]) ? (within[cell] ? SHOWN : LEFT_OUT) : FORBIDDEN,
  );
  const shown = combined.map((number, cell) => (states[cell] === FORBIDDEN ? Number.NaN : number));
  const perHead = (request.per_head ? values.heads : []).map(({ numbers, allowed }) => {
    const kept = keptOf(numbers);
    return numbers.map((number, cell) => (allowed[cell] && kept[cell] ? number : Number.NaN));
  });
  const { signed, scale } = quantity;
  const [low, high] = colourLimits(shown, states, quantity);
  return {
    meta: { rows, columns, signed, scale, low, high, per_head: perHead.length, rules: rulesOf(view) },
    numbers: joined([...[shown, ...perHead].map(bytesOf), states]),
  };
}

function viewOf(runs: Runs, { question, choice: chosen }: HeadViewRequest): View {
  const { facts } = runs.model;
  const choice = { ...facts.choice, ...chosen };
  const run = runs.of(question);
  const group = selectedGroup(facts, choice.attention);
  const quantity = quantityOf(choice.quantity, facts);
  const heads = selectedHeads(choice, group);
  const [layer, head] = heads[0];
  const otherHead = parseHead(choice.other_head, group) ?? [layer, (head + 1) % group.heads];
  const request = { runs, run, group, choice, otherHead };
  return { ...request, quantity, heads, values: headValues(request, heads, quantity) };
}

/** Whether rows keep their largest cells alone. */
function isCut({ quantity, choice }: View): boolean {
  return quantity.additive && choice.top_mass < 100;
}

/** What was done to the numbers, in words. */
function rulesOf(view: View): string[] {
  const { quantity, choice, otherHead, heads, values } = view;
  const [layer, head] = otherHead;
  const other = choice.quantity === "minus_head" ? ` layer ${layer}, head ${head}` : "";
  const reduction = choice.head_reduction === "mean" ? "mean" : "largest";
  return [
    `${quantity.description}${other}`,
    ...(quantity.note ? [quantity.note] : []),
    ...values.rules,
    ...(heads.length > 1 && !quantity.of_all_heads ? [`${reduction} of ${heads.length} heads`] : []),
    ...(isCut(view) ? [`the largest of each row that make ${choice.top_mass} %`] : []),
  ];
}

/** Float32 numbers as the bytes of an answer. */
export function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** The numbers of the displayed tokens, with a column for what a sink takes of each row. */
function headValues(
  request: QuantityRequest,
  heads: readonly Head[],
  quantity: ReturnType<typeof quantityOf>,
): HeadValues {
  const { runs, run, choice } = request;
  const { facts } = runs.model;
  requireFew(heads.length, run, facts);
  const whole = heads.map((head) => quantity.compute(request, head));
  const filter = tokenFilter(runs.model, run, choice, quantity);
  const shown = whole.map(filter.apply);
  const found = { heads: shown, axes: filter.axes, rules: filter.rules };
  if (!facts.has_sinks || choice.quantity !== "weights" || filter.renormalizes) return found;
  const [rows, columns] = filter.axes;
  const width = columns.labels.length;
  return {
    heads: whole.map((head, place) =>
      withRest(shown[place], filter.joinQueries(restOf(head, run.tokens.length)), width),
    ),
    axes: [rows, { labels: [...columns.labels, facts.nowhere], tokens: [...columns.tokens, []] }],
    rules: [...filter.rules, `${facts.nowhere}: the share of the head's sink, which is not a token`],
  };
}

function requireFew(heads: number, { tokens }: Run, { limits }: ModelFacts) {
  if (heads * tokens.length ** 2 > limits.view_cells)
    throw new Refused(`${heads} heads of such a long text are too many for one view. Select fewer.`);
}

/** What is missing to 1 in each row. */
function restOf({ numbers, allowed }: HeadNumbers, length: number): Float32Array {
  return Float32Array.from({ length }, (_, query) => {
    const row = numbers.subarray(query * length, (query + 1) * length);
    return 1 - row.reduce((sum, weight, key) => sum + (allowed[query * length + key] ? weight : 0), 0);
  });
}

function withRest({ numbers, allowed }: HeadNumbers, rest: Float32Array, width: number): HeadNumbers {
  const rows = [...rest].map((last, row) => ({
    numbers: [...numbers.subarray(row * width, (row + 1) * width), last],
    allowed: [...allowed.subarray(row * width, (row + 1) * width), 1],
  }));
  return {
    numbers: Float32Array.from(rows.flatMap((row) => row.numbers)),
    allowed: Uint8Array.from(rows.flatMap((row) => row.allowed)),
  };
}

/** What several heads make of one cell. */
const REDUCTIONS: Record<string, (numbers: readonly number[]) => number> = {
  mean: (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length,
  max: (numbers) => numbers.reduce((most, number) => (Math.abs(number) > Math.abs(most) ? number : most)),
};

/** One map of several heads; a forbidden cell of an additive quantity counts as 0, of others not at all. */
function combinedHeads(heads: readonly HeadNumbers[], isAdditive: boolean, reduction: string): Float32Array {
  const reduced = known(REDUCTIONS, "head reduction", reduction);
  return heads[0].numbers.map((_, cell) => {
    const counted = heads.filter(({ allowed }) => isAdditive || allowed[cell]).map(({ numbers }) => numbers[cell]);
    return counted.length ? reduced(counted) : Number.NaN;
  });
}

/** The fewest cells of each row that hold a share of the sum of its absolute values; the earlier of equal ones. */
function topMass(numbers: Float32Array, width: number, share: number): Uint8Array {
  const kept = new Uint8Array(numbers.length);
  for (let start = 0; start < numbers.length; start += width) {
    const sizes = Float64Array.from(numbers.subarray(start, start + width), Math.abs);
    const order = [...sizes.keys()].sort((one, other) => sizes[other] - sizes[one] || one - other);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    let before = 0;
    for (const column of order) {
      // A rounding error in the last cell's sum must not add another cell.
      if (before < share * total * (1 - 1e-9) && sizes[column] > 0) kept[start + column] = 1;
      before += sizes[column];
    }
  }
  return kept;
}

/** The numbers at the two ends of the colours. */
function colourLimits(numbers: Float32Array, states: Uint8Array, { scale, signed }: QuantityFacts): [number, number] {
  if (scale === "probability") return [0, 1];
  const shown = [...numbers].filter((_, cell) => states[cell] === SHOWN);
  if (!shown.length) return signed ? [-1, 1] : [0, 1];
  const [least, most] = [shown.reduce((a, b) => Math.min(a, b)), shown.reduce((a, b) => Math.max(a, b))];
  const limit = Math.max(-least, most) || 1;
  if (signed) return [-limit, limit];
  return [scale === "sqrt" ? 0 : least, most];
}
