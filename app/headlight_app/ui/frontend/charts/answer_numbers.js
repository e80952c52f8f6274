// The numbers of a model's answers: probabilities in percent, or scores, which may be negative.

import { formatPercent } from "../dom/dom.js";
import { formatNumber } from "./charts.js";
import { createTrack } from "./track.js";

/** @import { Prediction } from "../contract.js" */
/** @typedef {Pick<Prediction, "problem_type">} Meaning what the numbers mean; if it is missing, one answer is true */

const DIGITS = 4; // of a score, or all before the point

/** @param {Meaning} meaning */
export function areScores({ problem_type }) {
  return problem_type === "regression";
}

/** Whether labels do not exclude each other, so that several may be true, or none. @param {Meaning} meaning */
export function areIndependent({ problem_type }) {
  return problem_type === "multi-label";
}

/** @param {Meaning} meaning @param {number} number */
export function answerNumber(meaning, number) {
  return areScores(meaning) ? formatScore(number) : formatPercent(number);
}

/** @param {number} number */
export function formatScore(number) {
  return formatNumber(number, Math.max(DIGITS, Math.trunc(Math.abs(number)).toString().length));
}

/** The word for the answer with the largest number. @param {Meaning} meaning */
export function bestWord(meaning) {
  return areScores(meaning) ? "highest" : "likeliest";
}

/** The ends of the bars of some numbers: 0 and 1, or the range of the scores and 0. @param {Meaning} meaning @param {(number | null)[]} numbers */
export function barEnds(meaning, numbers) {
  if (!areScores(meaning)) return { least: 0, most: 1 };
  const known = numbers.map((number) => number ?? 0);
  return { least: Math.min(0, ...known), most: Math.max(0, ...known) };
}

/**
 * The bar of a number among others. A lone score has none: nothing says how much it is.
 * @param {Meaning} meaning @param {(number | null)[]} numbers all that are shown @param {number | null} number
 * @param {number | null} [before] the number to compare with
 */
export function createAnswerTrack(meaning, numbers, number, before) {
  if (!areScores(meaning)) return createTrack(number, before);
  return createTrack(numbers.length > 1 ? number : null, before, barEnds(meaning, numbers));
}

/**
 * The format of bars in a figure, and their ends.
 * @param {Meaning} meaning @param {{ values: (number | null)[] }[]} rows
 */
export function figureBars(meaning, rows) {
  const ends = barEnds(
    meaning,
    rows.flatMap(({ values }) => values),
  );
  return { ...ends, format: (/** @type {number} */ number) => answerNumber(meaning, number) };
}
