// A number axis: round numbers to mark, and the positions of values between its two ends.

import { formatNumber, raised } from "../dom/numbers.ts";

type Scale = { low: number; high: number; marks: number[]; place: (value: number) => number };

const MOST_POWERS = 8; // intervals between the marks of a logarithmic axis
const ROUNDING = 1e-9; // of a step

/** Round numbers that divide a range into about `parts` parts. */
export function ticks(low: number, high: number, parts: number = 4) {
  const rough = (high - low) / parts || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => power * factor >= rough * 0.999) ?? 10);
  const [first, last] = [Math.ceil(low / step - ROUNDING), Math.floor(high / step + ROUNDING)];
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => (first + index) * step);
}

/** Powers of ten between two positive numbers; only some if many. */
export function powersOfTen(low: number, high: number) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const step = Math.ceil((last - first) / MOST_POWERS) || 1;
  return Array.from(
    { length: Math.floor((last - first) / step) + 1 },
    (_, index) => 10 ** (last - step * index),
  ).reverse();
}

/**
 * An axis for all finite values, from the coordinate `start` to `end`. `fromZero`: whether it includes 0.
 */
export function createScale(
  values: number[],
  start: number,
  end: number,
  { isLog = false, fromZero = false, parts = 4 }: { isLog?: boolean; fromZero?: boolean; parts?: number } = {},
): Scale {
  const to = isLog ? Math.log10 : (value: number) => value;
  const [low, high] = rangeOf(values, isLog, fromZero);
  const share = (value: number) => (to(value) - to(low)) / (to(high) - to(low));
  const within = (mark: number) => share(mark) >= -ROUNDING && share(mark) <= 1 + ROUNDING;
  const powers = isLog ? powersOfTen(low, high).filter(within) : [];
  // Between 3 and 8 there is no power of ten, and one alone says nothing of the distances.
  const marks = powers.length < 2 ? ticks(low, high, isLog ? 2 * parts : parts).filter(within) : powers;
  return { low, high, marks, place: (value) => start + share(value) * (end - start) };
}

function rangeOf(values: number[], isLog: boolean, fromZero: boolean) {
  const counted = values.filter((value) => Number.isFinite(value) && (!isLog || value > 0));
  if (!counted.length) return isLog ? [1, 10] : [0, 1];
  const all = fromZero && !isLog ? [...counted, 0] : counted;
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (low < high) return [low, high];
  return isLog ? [low, low * 10] : fromZero ? [low, low + 1] : [low - 0.5, low + 0.5];
}

/** The text of an axis mark; large and small powers of ten are written as powers: 10⁷. */
export function formatMark(mark: number) {
  const power = mark > 0 ? Math.round(Math.log10(mark)) : 0;
  if ((power > -4 && power < 5) || Math.abs(mark / 10 ** power - 1) > 1e-9) return formatNumber(mark, 3);
  return `10${raised(power)}`;
}
