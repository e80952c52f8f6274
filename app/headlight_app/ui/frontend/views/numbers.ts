// The format of numbers in views.

import { extentOf, formatNumber } from "../charts/charts.ts";
import type { Numeric } from "./types.ts";

const ROUNDING = 1e-6; // error of float32: a cosine of 0.9999999 counts as 1

/**
 * A number with `digits` decimal places; integers have none, so that 0 differs from 0.00, and long ones have commas.
 */
export function formatFixed(value: Numeric, digits: number) {
  const exact = Number(value);
  if (Number.isNaN(exact)) return "NaN";
  if (!Number.isFinite(exact)) return formatNumber(exact);
  const nearest = Math.round(exact);
  const number = nearest !== 0 && Math.abs(exact - nearest) < ROUNDING * Math.abs(nearest) ? nearest : exact;
  if (Number.isInteger(number) && Math.abs(number) >= 10_000 && Math.abs(number) < 1e9)
    return number.toLocaleString("en").replace("-", "−");
  if (Math.abs(number) >= 100_000) return formatNumber(number, 2);
  const text = Number.isInteger(number) ? String(number) : number.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/** The largest absolute value of the finite numbers; 1 if all are 0. */
export function largestSize(values: Iterable<Numeric>) {
  const sizes = Array.from(values, (value) => Math.abs(Number(value)));
  return extentOf([sizes]).high;
}

const EXACT = 1e-3; // units of the last place: a part with a smaller error is as it was given

/**
 * The parts of a sum, such that they add up to its total when all of them are written with `places` decimal places.
 *
 * The total is rounded as everywhere, since it may stand in other places, too. If the parts, rounded as everywhere, add
 * up to another number, those with the largest errors become the neighbour on the other side. So what is written is less
 * than a unit of its last place from the number, and a part without an error keeps it. Nor is anything changed if the
 * sum of the parts is not the total.
 */
export function roundedParts(parts: number[], total: number, places: number) {
  const rounded = parts.map((part) => Number(part.toFixed(places)));
  const unit = 10 ** -places;
  if (!(Math.abs(sumOf(parts) - total) < unit / 2)) return parts;
  const missing = Math.round((Number(total.toFixed(places)) - sumOf(rounded)) / unit);
  const step = Math.sign(missing) * unit;
  const errors = parts.map((part, place) => (part - rounded[place]) / step);
  const moved = [...errors.keys()]
    .filter((place) => errors[place] > EXACT)
    .sort((one, other) => errors[other] - errors[one])
    .slice(0, Math.abs(missing));
  return parts.map((part, place) => (moved.includes(place) ? Number((rounded[place] + step).toFixed(places)) : part));
}

/**
 * The sum of numbers that are shown with `places` decimal places: that of the shown ones if it is less than a unit of its
 * last place from the sum, otherwise the sum itself: three thirds, 0.33 each, are 1.
 */
export function sumText(numbers: number[], places: number) {
  const [exact, shown] = [sumOf(numbers), sumOf(numbers.map((number) => Number(number.toFixed(places))))];
  const isNear = Math.abs(shown - exact) < (1 - EXACT) * 10 ** -places;
  return formatFixed(Number((isNear ? shown : exact).toFixed(places)), places);
}

function sumOf(numbers: number[]) {
  return numbers.reduce((sum, number) => sum + number, 0);
}
