// Named points in the plane.

import { HEAD_COLOURS } from "../../charts/colours.ts";
import { svg } from "../../charts/svg.ts";
import { createElement } from "../../dom/dom.ts";
import { createLegend } from "../lines.ts";
import type { PointsView } from "../types.ts";
import { createPlane, LARGE, SIZE } from "./plane.ts";

const [CROWDED, LONG] = [10, 16]; // above these numbers of names and of letters, the plane is larger
export const LETTER = 7.5; // the width of a name's letter in pixels
const LINE = 13; // its height
const DOT = 5; // half the width of a point

export function createPoints({ points, groups, x_title, y_title }: PointsView) {
  const words = points.map(([label, x, y]) => `${label} (${x.toFixed(2)}, ${y.toFixed(2)})`).join(", ");
  const isLarge = points.length > CROWDED || points.some(([label]) => label.length > LONG);
  const size = isLarge ? LARGE : SIZE;
  const { sheet, place } = createPlane(
    points.map(([, x, y]) => [x, y]),
    words,
    size,
  );
  const labels = placeLabels(
    points.map(([label, x, y]) => {
      const [left, top] = place(x, y);
      return { left, top, width: LETTER * label.length };
    }),
    size,
  );
  points.forEach(([label, x, y, group], index) => {
    const [left, top] = place(x, y);
    sheet.append(
      svg("circle", { cx: left, cy: top, r: 4.5, fill: HEAD_COLOURS[group % 8] }),
      svg("text", { x: labels[index].left, y: labels[index].top, class: "name" }, [label]),
    );
  });
  if (x_title) sheet.append(svg("text", { x: size - 8, y: size / 2 - 6, "text-anchor": "end" }, [x_title]));
  if (y_title) sheet.append(svg("text", { x: size / 2 + 6, y: 14 }, [y_title]));
  return createElement("div", isLarge ? "chart plane large" : "chart plane", [sheet, createLegend(groups)]);
}

export type Box = { left: number; top: number; width: number }; // of a label: its left end and its baseline

/**
 * The positions of the labels of points: beside their points, on the sheet, if possible without overlapping others.
 * @param size of the sheet
 */
export function placeLabels(points: Box[], size: number): Box[] {
  const placed: Box[] = [];
  const dots = points.map(({ left, top }) => ({ left: left - DOT, top: top + 4, width: 2 * DOT }));
  for (const { left, top, width } of points) {
    const sides = [0, 1, -1, 2, -2].flatMap((line) =>
      [left + 8, left - 8 - width].map((start) => ({ left: start, top: top + 4 + line * LINE, width })),
    );
    const inside = sides.filter((box) => box.left >= 0 && box.left + width <= size);
    const free = inside.filter((box) => !placed.some((other) => isCovering(box, other)));
    placed.push(free.find((box) => !dots.some((dot) => isCovering(box, dot))) ?? free[0] ?? inside[0] ?? sides[0]);
  }
  return placed;
}

export function isCovering(one: Box, other: Box) {
  const apart = one.left >= other.left + other.width || other.left >= one.left + one.width;
  return !apart && Math.abs(one.top - other.top) < LINE;
}
