// Which tokens a view shows and how they are grouped, as in app/headlight_app/explore/answers/token_filter.py.

import type { HeadChoice } from "../../../ui/frontend/contract.ts";
import { Refused } from "../engine/refused.ts";
import { type Span, zoomSpans } from "./head_choice.ts";
import { type HeadNumbers, renormalized } from "./quantities.ts";
import type { Run } from "./runs.ts";
import { sentenceNumbers } from "./text.ts";
import type { Model, QuantityFacts } from "./types.ts";
import { groupTexts, type TokenGroups, wordGroups } from "./word_groups.ts";

/** The rows or columns of a view: their labels, and the tokens that each covers. */
export interface Axis {
  labels: string[];
  tokens: number[][];
}

export interface TokenFilter {
  /** Of queries and of keys. */
  readonly axes: readonly [Axis, Axis];
  readonly renormalizes: boolean;
  readonly rules: readonly string[];
  /** Numbers and cells of a head, [query key], as [row column]. */
  apply(head: HeadNumbers): HeadNumbers;
  /** A number of each query, as one of each row. */
  joinQueries(numbers: Float32Array): Float32Array;
}

export function tokenFilter(model: Model, run: Run, choice: HeadChoice, quantity: QuantityFacts): TokenFilter {
  const { length } = run.tokens;
  const segments = segmentsOf(model, run, choice);
  const zoom = zoomSpans(choice, length);
  const kept = [0, 1].map((side) => keptPositions(model, run, choice, zoom[side], segments[side]));
  if (kept.some((positions) => !positions.length))
    throw new Refused("All tokens of this text are hidden. Show the hidden tokens again.");
  const byWord = choice.unit === "words" && quantity.additive;
  const groups = kept.map((positions) => (byWord ? keptGroups(run, positions) : positions.map((each) => [each])));
  const isRenormalized = Boolean(choice.renormalize) && quantity.scale === "probability" && kept[1].length < length;
  const inner = groups.map((each, side) => each.map((group) => group.map((position) => kept[side].indexOf(position))));
  const [rows, columns] = groups.map(
    (each): Axis => ({ labels: groupTexts(run.question.text, run.tokens, each), tokens: each }),
  );
  const cells = kept[0].flatMap((query) => kept[1].map((key) => query * length + key));
  const width = kept[1].length;
  return {
    axes: [rows, columns],
    renormalizes: isRenormalized,
    rules: rulesOf({ model, choice, quantity, zoom, segments, byWord, isRenormalized, length }),
    apply(head) {
      const shown = shownCells(head, cells);
      const numbers = isRenormalized ? renormalized(shown.numbers, width) : shown.numbers;
      return byWord ? joinedCells({ ...shown, numbers }, inner, width) : { ...shown, numbers };
    },
    joinQueries: (numbers) =>
      aggregated(
        kept[0].map((query) => numbers[query]),
        inner[0],
        [[0]],
        1,
      ),
  };
}

function shownCells({ numbers, allowed }: HeadNumbers, cells: readonly number[]): HeadNumbers {
  return {
    numbers: Float32Array.from(cells, (cell) => (allowed[cell] ? numbers[cell] : 0)),
    allowed: Uint8Array.from(cells, (cell) => allowed[cell]),
  };
}

function joinedCells({ numbers, allowed }: HeadNumbers, [queries, keys]: TokenGroups[], width: number): HeadNumbers {
  return {
    numbers: aggregated(numbers, queries, keys, width),
    allowed: Uint8Array.from(aggregated(allowed, queries, keys, width), (count) => Number(count > 0)),
  };
}

/** Attention to a group is the sum over its tokens, attention from it the mean (Clark et al. 2019, section 4.1). */
function aggregated(numbers: ArrayLike<number>, queries: TokenGroups, keys: TokenGroups, width: number): Float32Array {
  const sumOf = (rows: readonly number[], columns: readonly number[]) =>
    rows.reduce((sum, row) => sum + columns.reduce((one, column) => one + numbers[row * width + column], 0), 0);
  return Float32Array.from(queries.flatMap((rows) => keys.map((columns) => sumOf(rows, columns) / rows.length)));
}

/** The sentence that the queries and the one that the keys are of, 0 or 1; none unless the text is a pair. */
function segmentsOf({ tokenizer }: Model, { tokens }: Run, { segments }: HeadChoice): number[] {
  const isPair = Math.max(...sentenceNumbers(tokens, tokenizer.endId)) > 0;
  return segments && isPair ? segments.split("-").map((letter) => "ab".indexOf(letter)) : [];
}

function keptPositions(model: Model, { tokens }: Run, choice: HeadChoice, [first, end]: Span, segment?: number) {
  const { special_ids, unknown_id } = model.facts.tokenizer;
  const hide = choice.hide.split("+");
  const special = new Set(special_ids.filter((id) => id !== model.tokenizer.maskId && id !== unknown_id));
  const sentences = sentenceNumbers(tokens, model.tokenizer.endId);
  return tokens.flatMap(({ id }, position) => {
    const isHidden = (hide.includes("special") && special.has(id)) || (hide.includes("first") && position === 0);
    const isInside = position >= first && position < end && (segment === undefined || sentences[position] === segment);
    return isInside && !isHidden ? [position] : [];
  });
}

function keptGroups({ question, tokens }: Run, positions: readonly number[]): number[][] {
  const kept = new Set(positions);
  const groups = wordGroups(question.text, tokens).map((group) => group.filter((position) => kept.has(position)));
  return groups.filter((group) => group.length);
}

interface Described {
  readonly model: Model;
  readonly choice: HeadChoice;
  readonly quantity: QuantityFacts;
  readonly zoom: readonly [Span, Span];
  readonly segments: readonly number[];
  readonly byWord: boolean;
  readonly isRenormalized: boolean;
  readonly length: number;
}

/** The hidden and joined tokens in words, in the order in which the filters apply. */
function rulesOf({ model, choice, quantity, zoom, segments, byWord, isRenormalized, length }: Described): string[] {
  const [queries, keys] = zoom;
  const hide = choice.hide.split("+");
  const titles = Object.entries(model.facts.hidden_token_titles).filter(([name]) => hide.includes(name));
  const sums = quantity.scale === "probability" ? `, rows ${isRenormalized ? "" : "not "}renormalised` : "";
  return [
    ...(zoom.some(([first, end]) => end - first < length)
      ? [`queries ${queries[0]} to ${queries[1] - 1}, keys ${keys[0]} to ${keys[1] - 1}`]
      : []),
    ...(segments.length ? [`only ${segments.map((segment) => "AB"[segment]).join(" → ")}`] : []),
    ...(titles.length ? [`${titles.map(([, title]) => title).join(" and ")} hidden${sums}`] : []),
    ...(byWord ? ["words: sum over keys, mean over queries"] : []),
  ];
}
