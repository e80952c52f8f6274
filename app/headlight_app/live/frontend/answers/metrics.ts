// Head metrics, as in model/headlight/analysis/head_metrics.py.

import { Refused } from "../engine/refused.ts";
import type { EncodedToken } from "../tokenizer/types.ts";
import type { Matrix } from "./codes.ts";

const TINY = 1.1754943508222875e-38; // the smallest normal number in 32 bits
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

/** The number of each row, of which a metric is the mean. */
const MEASURES: ReadonlyMap<string, (row: Float32Array, query: number) => number> = new Map([
  ["entropy", (row: Float32Array) => Math.max(0, -sumOf(row, (weight) => weight * Math.log2(Math.max(weight, TINY))))],
  ["distance", (row: Float32Array, query: number) => sumOf(row, (weight, key) => weight * Math.abs(query - key))],
]);

/** Every metric of every head: null if the text does not determine it. */
export function headMetrics(
  names: readonly string[],
  heads: readonly Weights[],
  tokens: Tokens,
): Record<string, (number | null)[]> {
  const counted = names.filter((name) => CELLS.has(name));
  const flags = flagsOf(counted, tokens);
  const rows = heads.map(normalizedRows);
  const shares = rows.map((head, place) => sharesOf(head, choicesOf(heads[place].mask), flags, counted.length));
  const numbersOf = (name: string) => {
    const measure = MEASURES.get(name);
    if (measure) return rows.map((head) => meanOver(head, measure));
    if (CELLS.has(name)) return shares.map((share) => share[counted.indexOf(name)]);
    throw new Refused(`A page without a server does not measure ${name}.`);
  };
  return Object.fromEntries(names.map((name) => [name, numbersOf(name).map(shown)]));
}

function shown(number: number): number | null {
  return Number.isNaN(number) ? null : Math.round(number * 1e4) / 1e4;
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
    const row = numbers.slice(query * columns, (query + 1) * columns).map((weight) => (weight > 0 ? weight : 0));
    const total = sumOf(row, (weight) => weight);
    return total > 0 ? row.map((weight) => weight / total) : null;
  });
}

/** The keys that each query may attend to, if there are several. */
function choicesOf({ rows, columns, numbers }: Matrix): number[][] {
  return Array.from({ length: rows }, (_, query) => {
    const keys = Array.from({ length: columns }, (_, key) => key).filter((key) => numbers[query * columns + key] > 0);
    return keys.length > 1 ? keys : [];
  });
}

/** Of each metric, the mean share of the attention that its keys get, over the queries that attend and have one. */
function sharesOf(rows: readonly (Float32Array | null)[], choices: number[][], flags: Uint16Array, count: number) {
  const totals = new Float64Array(count);
  const queries = new Float64Array(count);
  rows.forEach((row, query) => {
    if (!row) return;
    let had = 0;
    for (const key of choices[query]) {
      const bits = flags[query * row.length + key];
      had |= bits;
      for (let bit = 0; bits >> bit; bit++) if ((bits >> bit) & 1) totals[bit] += row[key];
    }
    for (let bit = 0; had >> bit; bit++) queries[bit] += (had >> bit) & 1;
  });
  return totals.map((total, bit) => (queries[bit] ? total / queries[bit] : Number.NaN));
}

function meanOver(rows: readonly (Float32Array | null)[], measure: (row: Float32Array, query: number) => number) {
  const numbers = rows.flatMap((row, query) => (row ? [measure(row, query)] : [])).filter(Number.isFinite);
  return numbers.length ? numbers.reduce((sum, number) => sum + number, 0) / numbers.length : Number.NaN;
}

function sumOf(row: Float32Array, summand: (weight: number, key: number) => number): number {
  return row.reduce((sum, weight, key) => sum + summand(weight, key), 0);
}

function otherKeys(isKey: readonly boolean[]): IsCounted {
  return (query, key) => key !== query && isKey[key];
}

/** Other occurrences of the same word, ignoring case and the space before it. */
function sameWord(tokens: Tokens): IsCounted {
  const words = tokens.map(({ text }) => text.trim().toUpperCase().toLowerCase());
  const marks = arePunctuation(tokens);
  return (query, key) => key !== query && words[key] !== "" && words[key] === words[query] && !marks[key];
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
