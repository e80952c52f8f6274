// Attention weights as one byte each: 0 if the mask forbids the cell, 1 to 255 for the square root of the weight.

/** @param weight from 0 to 1; NaN if the mask forbids the cell */
export function encodeWeight(weight: number) {
  return Number.isNaN(weight) ? 0 : 1 + Math.round(254 * Math.sqrt(Math.min(Math.max(weight, 0), 1)));
}

export function decodeWeight(code: number) {
  return code === 0 ? Number.NaN : ((code - 1) / 254) ** 2;
}
