// Head metrics, as in model/headlight/analysis/head_metrics.py.

import { table } from "../../../ui/frontend/dom/table.ts";
import { Refused } from "../engine/refused.ts";
import type { EncodedToken } from "../tokenizer/types.ts";
import type { Matrix } from "./codes.ts";

const PUNCTUATION = /^\p{P}+$/u;

type Tokens = readonly EncodedToken[];
type Weights = Matrix & { readonly mask: Matrix };

/** Whether a metric counts a key of a query. */
type IsCounted = (query: number, key: number) => boolean;

/** The keys that each metric counts. */
const CELLS: ReadonlyMap<string, (tokens: Tokens) => IsCounted> = new Map<string, (tokens: Tokens) => IsCounted>([
  ["previous", () => (query, key) => key === query - 1],
  ["next", () => (query, key) => key === query + 1],
  ["current", () => (query, key) => key === query],
  ["first", () => (query, key) => key === 0 && query > 0],
  ["same-word", sameWord],
  ["induction", afterEarlierOccurrence],
  ["punctuation", (tokens) => otherKeys(arePunctuation(tokens))],
  ["special", (tokens) => otherKeys(tokens.map(({ special }) => special))],
]);

/** The number of each row, of which a metric is the mean; a row sums to 1. */
const MEASURES: Record<string, (row: Float32Array, query: number) => number> = table({ entropy, distance });

/** Every metric of every head: null if the text does not determine it. */
export function headMetrics(names: readonly string[], heads: readonly Weights[], tokens: Tokens) {
  const counted = names.filter((name) => CELLS.has(name));
  const measured = names.filter((name) => !CELLS.has(name));
  const flags = flagsOf(counted, tokens);
  const found: Record<string, (number | null)[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (const head of heads) {
    const rows = normalizedRows(head);
    const means = [...sharesOf(rows, head.mask, flags, counted.length), ...measured.map((name) => meanOf(name, rows))];
    [...counted, ...measured].forEach((name, place) => {
      found[name].push(Number.isNaN(means[place]) ? null : Math.round(means[place] * 1e4) / 1e4);
    });
  }
  return found;
}

/** The metrics that count each cell, as bits. */
function flagsOf(names: readonly string[], tokens: Tokens): Uint16Array {
  const { length } = tokens;
  const flags = new Uint16Array(length * length);
  names.forEach((name, bit) => {
    const isCounted = (CELLS.get(name) as (tokens: Tokens) => IsCounted)(tokens);
    for (let query = 0; query < length; query++)
      for (let key = 0; key < length; key++) if (isCounted(query, key)) flags[query * length + key] |= 1 << bit;
  });
  return flags;
}

/** The rows of a head, which sum to 1; null for an empty one. Negative weights and NaN count as 0. */
function normalizedRows({ rows, columns, numbers }: Matrix): (Float32Array | null)[] {
  return Array.from({ length: rows }, (_, query) => {
    const row = numbers.slice(query * columns, (query + 1) * columns);
    let total = 0;
    for (let key = 0; key < columns; key++) {
      if (!(row[key] > 0)) row[key] = 0;
      total += row[key];
    }
    if (!total) return null;
    for (let key = 0; key < columns; key++) row[key] /= total;
    return row;
  });
}

/**
 * Of each metric, the mean share of the attention that its keys get, over the queries that attend and have such a key.
 * A query that may attend to one key only has no choice, so it does not count.
 */
function sharesOf(rows: readonly (Float32Array | null)[], mask: Matrix, flags: Uint16Array, count: number) {
  const totals = new Float64Array(count);
  const queries = new Float64Array(count);
  rows.forEach((row, query) => {
    const start = query * mask.columns;
    if (!row || !hasChoice(mask.numbers, start, start + mask.columns)) return;
    let had = 0;
    for (let key = 0; key < row.length; key++) {
      const bits = mask.numbers[start + key] > 0 ? flags[start + key] : 0;
      had |= bits;
      for (let bit = 0; bits >> bit; bit++) if ((bits >> bit) & 1) totals[bit] += row[key];
    }
    for (let bit = 0; had >> bit; bit++) queries[bit] += (had >> bit) & 1;
  });
  return totals.map((total, bit) => (queries[bit] ? total / queries[bit] : Number.NaN));
}

/** Whether several cells are allowed. */
function hasChoice(mask: Float32Array, start: number, end: number): boolean {
  let count = 0;
  for (let at = start; at < end && count < 2; at++) if (mask[at] > 0) count += 1;
  return count > 1;
}

function meanOf(name: string, rows: readonly (Float32Array | null)[]): number {
  const measure = MEASURES[name];
  if (!measure) throw new Refused(`A page without a server does not measure ${name}.`);
  let [total, count] = [0, 0];
  rows.forEach((row, query) => {
    const number = row ? measure(row, query) : Number.NaN;
    if (!Number.isFinite(number)) return;
    total += number;
    count += 1;
  });
  return count ? total / count : Number.NaN;
}

/** In bits: 0 on one key, log2 n evenly on n. */
function entropy(row: Float32Array): number {
  let sum = 0;
  for (let key = 0; key < row.length; key++) if (row[key]) sum -= row[key] * Math.log2(row[key]);
  return Math.max(0, sum);
}

/** In tokens. */
function distance(row: Float32Array, query: number): number {
  let sum = 0;
  for (let key = 0; key < row.length; key++) sum += row[key] * Math.abs(query - key);
  return sum;
}

function otherKeys(isKey: readonly boolean[]): IsCounted {
  return (query, key) => key !== query && isKey[key];
}

/** Other occurrences of the same word, ignoring case and the space before it. */
function sameWord(tokens: Tokens): IsCounted {
  const words = tokens.map(({ text }) => withoutCase(text.trim()));
  const marks = arePunctuation(tokens);
  return (query, key) => key !== query && words[key] !== "" && words[key] === words[query] && !marks[key];
}

/** A word whose case does not matter; the dotless i is a letter of its own. */
function withoutCase(word: string): string {
  return word.replace(/[^ı]+/g, (letters) => letters.toLowerCase().toUpperCase());
}

/** The token after an earlier occurrence of this token. */
function afterEarlierOccurrence(tokens: Tokens): IsCounted {
  const marks = arePunctuation(tokens);
  const isWord = tokens.map(({ special }, place) => !special && !marks[place]);
  return (query, key) => key > 0 && key - 1 < query && tokens[key - 1].id === tokens[query].id && isWord[key - 1];
}

/** Which tokens consist of punctuation alone. */
function arePunctuation(tokens: Tokens): boolean[] {
  return tokens.map(({ text, special }) => !special && PUNCTUATION.test(text.trim()));
}
