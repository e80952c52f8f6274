// The plane for vectors and points: the same scale on both axes, zero in the middle.

import { formatNumber } from "../../charts/charts.ts";
import { ticks } from "../../charts/scale.ts";
import { createSheet, svg } from "../../charts/svg.ts";

export const SIZE = 320;
export const LARGE = 560; // for many names
const MARGIN = 26;

/**
 * A sheet with its axes, and a function for the position of a vector.
 * @param vectors that must fit @param words the text alternative @param size of each side
 */
export function createPlane(vectors: [number, number][], words: string, size: number = SIZE) {
  const reach = Math.max(...vectors.flat().map(Math.abs).filter(Number.isFinite), 1e-9) * 1.12;
  const scale = (size / 2 - MARGIN) / reach;
  const place = (x: number, y: number) => [size / 2 + x * scale, size / 2 - y * scale];
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
