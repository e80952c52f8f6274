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
