// Vectors in the plane.

import { HEAD_COLOURS } from "../../charts/colours.ts";
import { svg } from "../../charts/svg.ts";
import { createElement } from "../../dom/dom.ts";
import { createLegend } from "../lines.ts";
import type { ArrowsView } from "../types.ts";
import { createPlane, SIZE } from "./plane.ts";
import type { Box } from "./points.ts";
import { isCovering, LETTER } from "./points.ts";

const STEPS = [0, 0.2, 0.4, 0.6, 0.8, 0.9, 1]; // along an arrow
// Distances of a name from the tip, along its arrow and across it.
const PLACES = [
  [12, 0],
  [4, 15],
  [4, -15],
  [27, 0],
  [42, 0],
  [4, 30],
  [4, -30],
  [57, 0],
];

export function createArrows({ arrows, groups }: ArrowsView) {
  const words = arrows.map(({ label, x, y }) => `${label} (${x.toFixed(2)}, ${y.toFixed(2)})`).join(", ");
  const { sheet, place } = createPlane(
    arrows.map(({ x, y }) => [x, y]),
    words,
  );
  const tips = arrows.map(({ label, x, y }) => {
    const [left, top] = place(x, y);
    return { label, left, top };
  });
  const names = placeNames(tips, SIZE);
  arrows.forEach(({ label, group, shade }, index) => {
    const { left, top } = tips[index];
    const colour = HEAD_COLOURS[group % 8];
    const opacity = 0.25 + 0.75 * Math.min(Math.max(shade, 0), 1);
    const style = { stroke: colour, "stroke-width": 3, "stroke-opacity": opacity, "stroke-linecap": "round" };
    sheet.append(svg("line", { x1: SIZE / 2, y1: SIZE / 2, x2: left, y2: top, ...style }));
    sheet.append(svg("path", { d: head(left, top), fill: colour, "fill-opacity": opacity }));
    sheet.append(svg("text", { x: names[index].left, y: names[index].top, class: "name" }, [label]));
  });
  return createElement("div", "chart plane", [sheet, createLegend(groups)]);
}

type Tip = { label: string; left: number; top: number }; // of an arrow that begins at the origin

/**
 * The positions of the names of arrows: beyond or beside their tips, if possible without overlapping names or arrows.
 * @param size of the sheet
 */
export function placeNames(tips: Tip[], size: number): Box[] {
  const shafts = tips.flatMap(({ left, top }) =>
    STEPS.map((share) => [size / 2 + share * (left - size / 2), size / 2 + share * (top - size / 2)]),
  );
  const placed: Box[] = [];
  for (const tip of tips) {
    const boxes = boxesAround(tip, size);
    const free = boxes.filter((box) => !placed.some((other) => isCovering(box, other)));
    placed.push(free.find((box) => !shafts.some(([x, y]) => isWithin(box, x, y))) ?? free[0] ?? boxes[0]);
  }
  return placed;
}

/** Positions for a name around its arrow's tip, the best first. */
function boxesAround({ label, left, top }: Tip, size: number) {
  const length = Math.hypot(left - size / 2, top - size / 2);
  const [x, y] = length < 1 ? [0, -1] : [(left - size / 2) / length, (top - size / 2) / length];
  const width = LETTER * label.length;
  return PLACES.map(([along, across]) => {
    const middle = left + along * x - across * y + (x * width) / 2;
    const line = top + along * y + across * x + 4;
    return {
      left: Math.min(Math.max(middle - width / 2, 2), size - width - 2),
      top: Math.min(Math.max(line, 12), size - 4),
      width,
    };
  });
}

function isWithin({ left, top, width }: Box, x: number, y: number) {
  return x > left - 2 && x < left + width + 2 && y > top - 12 && y < top + 4;
}

/** The head of an arrow, at its tip. */
function head(left: number, top: number) {
  const angle = Math.atan2(top - SIZE / 2, left - SIZE / 2);
  const corner = (turn: number) => `${left - 11 * Math.cos(angle + turn)} ${top - 11 * Math.sin(angle + turn)}`;
  return Math.hypot(left - SIZE / 2, top - SIZE / 2) < 1 ? "" : `M${left} ${top}L${corner(0.42)}L${corner(-0.42)}Z`;
}
