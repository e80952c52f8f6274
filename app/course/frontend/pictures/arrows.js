// Vectors in the plane.

import { HEAD_COLOURS } from "../../../../model/rendering/static/ui/colours.js";
import { createElement } from "../../../../model/rendering/static/ui/dom.js";
import { createPlane, SIZE } from "./drawing/plane.js";
import { svg } from "./drawing/svg.js";
import { createLegend } from "./lines.js";

/** @import { ArrowsPicture } from "../types.d.ts" */

/** @param {ArrowsPicture} picture */
export function createArrows({ arrows, groups }) {
  const words = arrows.map(({ label, x, y }) => `${label} (${x.toFixed(2)}, ${y.toFixed(2)})`).join(", ");
  const { sheet, place } = createPlane(
    arrows.map(({ x, y }) => [x, y]),
    words,
  );
  /** @type {[number, number][]} */
  const taken = [];
  for (const { label, x, y, group, shade } of arrows) {
    const [left, top] = place(x, y);
    const colour = HEAD_COLOURS[group % 8];
    const opacity = 0.25 + 0.75 * Math.min(Math.max(shade, 0), 1);
    const style = { stroke: colour, "stroke-width": 3, "stroke-opacity": opacity, "stroke-linecap": "round" };
    sheet.append(svg("line", { x1: SIZE / 2, y1: SIZE / 2, x2: left, y2: top, ...style }));
    sheet.append(svg("path", { d: head(left, top), fill: colour, "fill-opacity": opacity }));
    sheet.append(createName(label, left, top, taken));
  }
  const box = createElement("div", "chart plane");
  box.append(sheet, createLegend(groups));
  return box;
}

/**
 * The name at an arrow's end, moved away from the names that are there already.
 * @param {string} label @param {number} left @param {number} top @param {[number, number][]} taken
 */
function createName(label, left, top, taken) {
  const isRight = left >= SIZE / 2;
  const anchor = left > SIZE - 70 ? "end" : isRight || left < 70 ? "start" : "end";
  const x = Math.min(Math.max(left + (isRight ? 6 : -6), 4), SIZE - 4);
  const start = Math.min(Math.max(top + (top > SIZE / 2 ? 16 : -8), 14), SIZE - 6);
  const isFree = (/** @type {number} */ y) => taken.every(([a, b]) => Math.abs(a - x) > 80 || Math.abs(b - y) > 13);
  const shifts = [0, 15, -15, 30, -30, 45, -45, 60];
  const y = start + (shifts.find((shift) => isFree(start + shift)) ?? 0);
  taken.push([x, y]);
  return svg("text", { x, y, "text-anchor": anchor, class: "name" }, [label]);
}

/** The head of an arrow that ends here. @param {number} left @param {number} top */
function head(left, top) {
  const angle = Math.atan2(top - SIZE / 2, left - SIZE / 2);
  const corner = (/** @type {number} */ turn) =>
    `${left - 11 * Math.cos(angle + turn)} ${top - 11 * Math.sin(angle + turn)}`;
  return Math.hypot(left - SIZE / 2, top - SIZE / 2) < 1 ? "" : `M${left} ${top}L${corner(0.42)}L${corner(-0.42)}Z`;
}
