// The numbers of a model's answers: probabilities in percent, or scores, which may be negative.

import type { Prediction } from "../contract.ts";
import { createElement } from "../dom/dom.ts";
import { formatNumber, formatPercent, formatPlaces, rounded } from "../dom/numbers.ts";
import { createTrack } from "./track.ts";

export type Meaning = Pick<Prediction, "problem_type">; // what the numbers mean; if it is missing, one answer is true

const DIGITS = 4; // of a score, or all before the point

export function areScores({ problem_type }: Meaning) {
  return problem_type === "regression";
}

/** The likeliest answer, by default after the changes. */
export function leaderOf({ candidates }: Pick<Prediction, "candidates">, side: "before" | "after" = "after") {
  return candidates.reduce((one, other) => (other[side] > one[side] ? other : one));
}

export function answerNumber(meaning: Meaning, number: number) {
  return areScores(meaning) ? formatScore(number) : formatPercent(number);
}

export function formatScore(number: number) {
  return formatNumber(number, Math.max(DIGITS, Math.trunc(Math.abs(number)).toString().length));
}

/**
 * The change of a score, or in percentage points that of the percentages as they are written, with a sign that does not
 * depend on colour; empty if a number is missing.
 */
export function changeLabel(before: number, after: number, isScore: boolean) {
  const written = (number: number) => (isScore ? number : rounded(100 * number, 1));
  const change = written(after) - written(before);
  if (Number.isNaN(change)) return createElement("span", "difference");
  const size = Math.abs(change);
  const small = size < (isScore ? 0.0005 : 0.05);
  const sign = small ? "±" : change > 0 ? "▲" : "▼";
  const words = isScore ? formatNumber(small ? 0 : size, 3) : formatPlaces(size, 1);
  return createElement("span", `difference ${small ? "" : change > 0 ? "up" : "down"}`, `${sign} ${words}`);
}

/** The word for the answer with the largest number. */
export function bestWord(meaning: Meaning) {
  return areScores(meaning) ? "highest" : "likeliest";
}

/** The ends of the bars of some numbers: 0 and 1, or the range of the scores and 0. */
function barEnds(meaning: Meaning, numbers: (number | null)[]) {
  if (!areScores(meaning)) return { least: 0, most: 1 };
  const known = numbers.map((number) => number ?? 0);
  return { least: Math.min(0, ...known), most: Math.max(0, ...known) };
}

/**
 * The bar of a number among others. A lone score has none: nothing says how much it is.
 * @param numbers all that are shown @param before the number to compare with
 */
export function createAnswerTrack(
  meaning: Meaning,
  numbers: (number | null)[],
  number: number | null,
  before?: number | null,
) {
  if (!areScores(meaning)) return createTrack(number, before);
  return createTrack(numbers.length > 1 ? number : null, before, barEnds(meaning, numbers));
}
