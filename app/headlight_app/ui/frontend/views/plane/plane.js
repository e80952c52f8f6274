// The plane for vectors and points: the same scale on both axes, zero in the middle.

import { formatNumber } from "../../charts/charts.js";
import { ticks } from "../../charts/scale.js";
import { createSheet, svg } from "../../charts/svg.js";

export const SIZE = 320;
export const LARGE = 560; // for many names
const MARGIN = 26;

/**
 * A sheet with its axes, and a function for the position of a vector.
 * @param {[number, number][]} vectors that must fit @param {string} words the text alternative
 * @param {number} [size] of each side
 */
export function createPlane(vectors, words, size = SIZE) {
  const reach = Math.max(...vectors.flat().map(Math.abs).filter(Number.isFinite), 1e-9) * 1.12;
  const scale = (size / 2 - MARGIN) / reach;
  const place = (/** @type {number} */ x, /** @type {number} */ y) => [size / 2 + x * scale, size / 2 - y * scale];
  const sheet = createSheet(size, size, words);
  for (const mark of ticks(-reach, reach)) {
    const [left, top] = place(mark, mark);
    const style = mark === 0 ? "axis-line" : "grid-line";
    sheet.append(
      svg("line", { x1: left, x2: left, y1: 6, y2: size - 6, class: style }),
      svg("line", { x1: 6, x2: size - 6, y1: top, y2: top, class: style }),
    );
    if (mark !== 0)
      sheet.append(svg("text", { x: left, y: size / 2 + 14, "text-anchor": "middle" }, [formatNumber(mark, 3)]));
  }
  return { sheet, place };
}
