// Numbers as they stand in pictures.

import { formatNumber } from "../../../../../model/rendering/static/ui/charts.js";

/** @import { Numeric } from "../../types.d.ts" */

const ROUNDING = 1e-6; // of a number of 32 bits: a cosine of 0.9999999 is 1

/** A number with so many places behind the point; whole ones have none, so that 0 is nothing and 0.00 is not, and long ones have commas. @param {Numeric} value @param {number} digits */
export function formatFixed(value, digits) {
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

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** A mark of an axis; a power of ten that would be long is written as one: 10⁷. @param {number} mark */
export function formatMark(mark) {
  const power = mark > 0 ? Math.round(Math.log10(mark)) : 0;
  if ((power > -4 && power < 5) || Math.abs(mark / 10 ** power - 1) > 1e-9) return formatNumber(mark, 3);
  return `10${String(power).replace(/./g, (sign) => RAISED[/** @type {keyof typeof RAISED} */ (sign)])}`;
}

/** The largest size of what is finite; 1 where all are 0. @param {Iterable<Numeric>} values */
export function largestSize(values) {
  let largest = 0;
  for (const value of values) {
    const size = Math.abs(Number(value));
    if (Number.isFinite(size) && size > largest) largest = size;
  }
  return largest || 1;
}
