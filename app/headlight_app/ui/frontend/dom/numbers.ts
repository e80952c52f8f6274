// Numbers for people, as the server writes them (model/headlight/views/words.py): a real minus sign, commas between
// thousands, "72.0 %", very small and large numbers as in 1.78·10⁻⁴, and halves rounded away from zero. The numbers of
// tests/shown_numbers.json are written by both.

import { table } from "./table.ts";

const ROUNDING = 1e-6; // error of float32: a cosine of 0.9999999 counts as 1
const RAISED = table({ "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" });
const TINY = 1e-4; // the largest number of a table whose numbers need too many decimal places
const EXACT = 1e-3; // units of the last place: a part with a smaller error is as it was given

/** The digits of a number as JavaScript writes them, with the signs of a text. */
function typeset(text: string) {
  const [whole] = text.split(".", 1);
  return (whole.replace(/\B(?=(\d{3})+$)/g, ",") + text.slice(whole.length)).replace("-", "−");
}

/** An exponent in superscript. */
export function raised(power: number) {
  return String(power).replace(/./g, (sign) => RAISED[sign as keyof typeof RAISED]);
}

/** A number in a few digits. */
export function formatNumber(number: number, digits: number = 4) {
  if (Number.isNaN(number)) return "–";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  const size = Math.abs(number);
  if (size === 0 || (size >= 0.001 && size < 100_000)) return typeset(String(Number(number.toPrecision(digits))));
  const [shown, exponent] = number.toExponential(Math.min(digits, 3) - 1).split("e");
  const power = `10${raised(Number(exponent))}`;
  return shown === "1" ? power : `${typeset(shown)}·${power}`;
}

/** The same with its sign, for summands. */
export function formatSigned(number: number) {
  return `${number > 0 ? "+" : ""}${formatNumber(number, 3)}`;
}

/** A number as it is written with so many decimal places. */
export function rounded(number: number, places: number) {
  return Number(number.toFixed(places));
}

/** A number with so many decimal places; what they do not show has no sign. */
export function formatPlaces(number: number, places: number) {
  const text = number.toFixed(places);
  return typeset(Number(text) === 0 ? text.replace("-", "") : text);
}

/** A whole number: 35,333. */
export function formatCount(number: number) {
  return typeset(String(number));
}

/** A number with `places` decimal places; integers have none, so that 0 differs from 0.00. */
export function formatFixed(value: number | string | null, places: number) {
  const exact = Number(value);
  if (Number.isNaN(exact)) return "NaN";
  const nearest = Math.round(exact);
  const number = nearest !== 0 && Math.abs(exact - nearest) < ROUNDING * Math.abs(nearest) ? nearest : exact;
  if (Number.isInteger(number) && Math.abs(number) < 1e9) return formatCount(number);
  return Math.abs(number) < 100_000 ? formatPlaces(number, places) : formatNumber(number, 3);
}

/**
 * A number in a table cell, with as many decimal places as the others of the table: two, or more if two would show
 * nothing of `most`; "·" for a number that they do not show. If all are tiny, each has three digits.
 * @param most the largest number of the table
 */
export function formatShort(number: number, most: number = 1) {
  if (most < TINY) return Math.abs(number) < most / 100 ? "·" : formatSigned(number);
  const places = most < 0.05 ? 1 - Math.floor(Math.log10(most)) : 2;
  if (Math.abs(number) < 0.5 * 10 ** -places) return "·";
  return `${number > 0 ? "+" : ""}${formatPlaces(number, places)}`;
}

/** A share as a percentage; one along a direction can be negative. */
export function formatPercent(share: number, places: number = 1) {
  if (!Number.isFinite(share)) return "–";
  const least = formatPlaces(10 ** -places, places);
  if (share === 0) return "0 %";
  if (Math.abs(share) < 0.5 * 10 ** -(places + 2)) return share < 0 ? `>−${least} %` : `<${least} %`;
  return `${formatPlaces(100 * share, places)} %`;
}

/**
 * The parts of a sum, such that they add up to its total when all of them are written with `places` decimal places.
 *
 * The total is rounded as everywhere, since it may stand in other places, too. If the parts, rounded as everywhere, add
 * up to another number, those with the largest errors become the neighbour on the other side. So what is written is less
 * than a unit of its last place from the number, and a part without an error keeps it. Nor is anything changed if the
 * sum of the parts is not the total.
 */
export function roundedParts(parts: number[], total: number, places: number) {
  const nearest = parts.map((part) => rounded(part, places));
  const unit = 10 ** -places;
  if (!(Math.abs(sumOf(parts) - total) < unit / 2)) return parts;
  const missing = Math.round((rounded(total, places) - sumOf(nearest)) / unit);
  const step = Math.sign(missing) * unit;
  const errors = parts.map((part, place) => (part - nearest[place]) / step);
  const moved = [...errors.keys()]
    .filter((place) => errors[place] > EXACT)
    .sort((one, other) => errors[other] - errors[one])
    .slice(0, Math.abs(missing));
  return parts.map((part, place) => (moved.includes(place) ? rounded(nearest[place] + step, places) : part));
}

/**
 * The sum of numbers that are shown with `places` decimal places: that of the shown ones if it is less than a unit of its
 * last place from the sum, otherwise the sum itself: three thirds, 0.33 each, are 1.
 */
export function sumText(numbers: number[], places: number) {
  const [exact, shown] = [sumOf(numbers), sumOf(numbers.map((number) => rounded(number, places)))];
  const isNear = Math.abs(shown - exact) < (1 - EXACT) * 10 ** -places;
  return formatFixed(rounded(isNear ? shown : exact, places), places);
}

function sumOf(numbers: number[]) {
  return numbers.reduce((sum, number) => sum + number, 0);
}
