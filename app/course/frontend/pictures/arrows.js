// Vectors in the plane.

import { HEAD_COLOURS } from "../../../../model/rendering/static/ui/colours.js";
import { createElement } from "../../../../model/rendering/static/ui/dom.js";
import { createLegend } from "./lines.js";
import { createPlane, SIZE } from "./plane.js";
import { svg } from "./svg.js";

/** @import { ArrowsPicture } from "../types.d.ts" */

/** @param {ArrowsPicture} picture */
export function createArrows({ arrows, groups }) {
  const words = arrows.map(({ label, x, y }) => `${label} (${x.toFixed(2)}, ${y.toFixed(2)})`).join(", ");
  const { sheet, place } = createPlane(
    arrows.map(({ x, y }) => [x, y]),
    words,
  );
  for (const { label, x, y, group, shade } of arrows) {
    const [left, top] = place(x, y);
    const colour = HEAD_COLOURS[group % 8];
    const opacity = 0.25 + 0.75 * Math.min(Math.max(shade, 0), 1);
    const style = { stroke: colour, "stroke-width": 3, "stroke-opacity": opacity, "stroke-linecap": "round" };
    sheet.append(svg("line", { x1: SIZE / 2, y1: SIZE / 2, x2: left, y2: top, ...style }));
    sheet.append(svg("path", { d: head(left, top), fill: colour, "fill-opacity": opacity }));
    const [away, down] = [Math.sign(left - SIZE / 2) || 1, Math.sign(top - SIZE / 2) || -1];
    const anchor = away > 0 ? "start" : "end";
    sheet.append(
      svg(
        "text",
        {
          x: clamp(left + away * 6),
          y: clamp(top + down * 10 + 4),
          "text-anchor": left > SIZE - 60 ? "end" : left < 60 ? "start" : anchor,
          class: "name",
        },
        [label],
      ),
    );
  }
  const box = createElement("div", "chart plane");
  box.append(sheet, createLegend(groups));
  return box;
}

/** @param {number} place */
function clamp(place) {
  return Math.min(Math.max(place, 12), SIZE - 4);
}

/** The head of an arrow that ends here. @param {number} left @param {number} top */
function head(left, top) {
  const angle = Math.atan2(top - SIZE / 2, left - SIZE / 2);
  const corner = (/** @type {number} */ turn) =>
    `${left - 11 * Math.cos(angle + turn)} ${top - 11 * Math.sin(angle + turn)}`;
  return Math.hypot(left - SIZE / 2, top - SIZE / 2) < 1 ? "" : `M${left} ${top}L${corner(0.42)}L${corner(-0.42)}Z`;
}
