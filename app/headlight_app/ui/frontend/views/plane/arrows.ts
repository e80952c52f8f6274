// Vectors in the plane.

import { seriesColour } from "../../charts/figure_charts.ts";
import type { Figure } from "../../export/types.ts";
import type { ArrowsView } from "../types.ts";
import type { Name, Place, Plane } from "./plane.ts";
import { addName, isCovering, nameWidth, SIZE } from "./plane.ts";

const [HEAD, TURN] = [11, 0.42]; // of the head of an arrow: the length of its sides, and their angle to the shaft
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

export function arrowsPlane({ arrows, groups }: ArrowsView): Plane {
  return {
    size: SIZE,
    words: arrows.map(({ label, x, y }) => `${label} (${x.toFixed(2)}, ${y.toFixed(2)})`).join(", "),
    groups,
    vectors: arrows.map(({ x, y }) => [x, y]),
    draw: (figure, place) => addArrows(figure, arrows, place),
  };
}

function addArrows(figure: Figure, arrows: ArrowsView["arrows"], place: Place) {
  const size = figure.width;
  const tips = arrows.map(({ label, x, y }) => {
    const [left, top] = place(x, y);
    return { left, top, width: nameWidth(label) };
  });
  const names = placeNames(tips, size);
  arrows.forEach(({ group, shade }, index) => {
    figure.shapes.push({
      kind: "polyline",
      points: arrowTo(tips[index], size),
      stroke: seriesColour(figure.look, group),
      stroke_width: 3 * figure.look.thin,
      opacity: 0.25 + 0.75 * Math.min(Math.max(shade, 0), 1),
      dashed: false,
    });
  });
  arrows.forEach(({ label }, index) => {
    addName(figure, label, names[index]);
  });
}

/** The shaft and the head of an arrow as one line, so that no part of a faint one is darker; a dot for zero. */
function arrowTo({ left, top }: Name, size: number) {
  const [x, y] = [left - size / 2, top - size / 2];
  if (Math.hypot(x, y) < 1) return [left - 1.5, top, left + 1.5, top];
  const corner = (turn: number) => {
    const angle = Math.atan2(y, x) + turn;
    return [left - HEAD * Math.cos(angle), top - HEAD * Math.sin(angle)];
  };
  return [size / 2, size / 2, left, top, ...corner(TURN), left, top, ...corner(-TURN)];
}

/**
 * The positions of the names of arrows: beyond or beside their tips, if possible without overlapping names or arrows.
 * @param tips of arrows that begin at the origin, with the width of each name @param size of the sheet
 */
export function placeNames(tips: Name[], size: number): Name[] {
  const shafts = tips.flatMap(({ left, top }) =>
    STEPS.map((share) => [size / 2 + share * (left - size / 2), size / 2 + share * (top - size / 2)]),
  );
  const placed: Name[] = [];
  for (const tip of tips) {
    const boxes = boxesAround(tip, size);
    const free = boxes.filter((box) => !placed.some((other) => isCovering(box, other)));
    placed.push(free.find((box) => !shafts.some(([x, y]) => isWithin(box, x, y))) ?? free[0] ?? boxes[0]);
  }
  return placed;
}

/** Positions for a name around its arrow's tip, the best first. */
function boxesAround({ left, top, width }: Name, size: number) {
  const length = Math.hypot(left - size / 2, top - size / 2);
  const [x, y] = length < 1 ? [0, -1] : [(left - size / 2) / length, (top - size / 2) / length];
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

function isWithin({ left, top, width }: Name, x: number, y: number) {
  return x > left - 2 && x < left + width + 2 && y > top - 12 && y < top + 4;
}
