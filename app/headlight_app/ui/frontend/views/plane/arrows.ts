// Vectors in the plane.

import { seriesColour } from "../../charts/figure_charts.ts";
import { arrowHead } from "../../charts/shapes.ts";
import { formatPlaces } from "../../dom/numbers.ts";
import type { Figure } from "../../export/types.ts";
import type { ArrowsView } from "../types.ts";
import type { Extent, Name, Place, PlacedName, Plane } from "./plane.ts";
import { addName, nameAt, placeOf, SIZE, writtenExtents } from "./plane.ts";

const HEAD = 11; // the sides of the head of an arrow
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
    words: arrows.map(({ label, x, y }) => `${label} (${formatPlaces(x, 2)}, ${formatPlaces(y, 2)})`).join(", "),
    groups,
    vectors: arrows.map(({ x, y }) => [x, y]),
    draw: (figure, place) => addArrows(figure, arrows, place),
  };
}

function addArrows(figure: Figure, arrows: ArrowsView["arrows"], place: Place) {
  const size = figure.width;
  const tips = arrows.map(({ label, x, y }) => nameAt(label, place(x, y), size));
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
  for (const name of placeNames(tips, size, writtenExtents(figure))) addName(figure, name);
}

/** The shaft and the head of an arrow as one line, so that no part of a faint one is darker; a dot for zero. */
function arrowTo({ left, top }: Name, size: number) {
  const [x, y] = [left - size / 2, top - size / 2];
  if (Math.hypot(x, y) < 1) return [left - 1.5, top, left + 1.5, top];
  const shaft = [size / 2, size / 2, left, top];
  return [...shaft, ...arrowHead(shaft, HEAD)];
}

/**
 * The positions of the names of arrows: beyond or beside their tips, if possible without overlapping names or arrows.
 * @param tips of arrows that begin at the origin, with their names @param size of the sheet
 * @param written what they also must not cover
 */
export function placeNames(tips: Name[], size: number, written: Extent[] = []): PlacedName[] {
  const shafts = tips.flatMap(({ left, top }) =>
    STEPS.map((share) => [size / 2 + share * (left - size / 2), size / 2 + share * (top - size / 2)]),
  );
  const hidesShaft = (box: Extent) => shafts.some(([x, y]) => isWithin(box, x, y));
  const placed: PlacedName[] = [];
  for (const tip of tips) placed.push(placeOf(tip, boxesAround(tip, size), [...written, ...placed], hidesShaft));
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

function isWithin({ left, top, width }: Extent, x: number, y: number) {
  return x > left - 2 && x < left + width + 2 && y > top - 12 && y < top + 4;
}
