// Named points in the plane.

import { seriesColour } from "../../charts/figure_charts.ts";
import { addWords } from "../../charts/figure_text.ts";
import { formatPlaces } from "../../dom/numbers.ts";
import type { Figure } from "../../export/types.ts";
import type { PointsView } from "../types.ts";
import type { Extent, Name, Place, PlacedName, Plane } from "./plane.ts";
import { addName, GAP, isCovering, LARGE, LINE, nameAt, placeOf, SIZE, writtenExtents } from "./plane.ts";

const [CROWDED, LONG] = [10, 16]; // above these numbers of names and of letters, the plane is larger
const DOT = 4.5; // the radius of a point

export function pointsPlane(view: PointsView): Plane {
  const { points, groups } = view;
  const isLarge = points.length > CROWDED || points.some(([label]) => label.length > LONG);
  return {
    size: isLarge ? LARGE : SIZE,
    words: points.map(([label, x, y]) => `${label} (${formatPlaces(x, 2)}, ${formatPlaces(y, 2)})`).join(", "),
    groups,
    vectors: points.map(([, x, y]) => [x, y]),
    draw: (figure, place) => addPoints(figure, view, place),
  };
}

function addPoints(figure: Figure, { points, x_title, y_title }: PointsView, place: Place) {
  const size = figure.width;
  const quiet = { room: size / 2, fill: figure.look.quiet };
  if (x_title) addWords(figure, x_title, size - GAP, size / 2 - 6, { anchor: "end", ...quiet });
  if (y_title) addWords(figure, y_title, size / 2 + 6, 14, { anchor: "start", ...quiet });
  const places = points.map(([, x, y]) => place(x, y));
  const names = points.map(([label], index) => nameAt(label, places[index], size));
  const placed = placeLabels(names, size, writtenExtents(figure));
  points.forEach(([, , , group], index) => {
    addPoint(figure, places[index], group);
    addName(figure, placed[index]);
  });
}

export function addPoint({ shapes, look }: Figure, [x, y]: number[], group: number) {
  shapes.push({ kind: "circle", x, y, radius: DOT, fill: seriesColour(look, group) });
}

/**
 * The positions of the labels of points: beside their points, on the sheet, if possible without overlapping others.
 * @param size of the sheet @param written what they also must not cover
 */
export function placeLabels(points: Name[], size: number, written: Extent[] = []): PlacedName[] {
  const placed: PlacedName[] = [];
  const dots = points.map(({ left, top }) => ({ left: left - DOT, top: top + 4, width: 2 * DOT }));
  for (const point of points) {
    const { left, top, width } = point;
    const sides = [0, 1, -1, 2, -2].flatMap((line) =>
      [left + GAP, left - GAP - width].map((start) => ({ left: start, top: top + 4 + line * LINE, width })),
    );
    const inside = sides.filter((box) => box.left >= 0 && box.left + width <= size);
    const hidesDot = (box: Extent) => dots.some((dot) => isCovering(box, dot));
    placed.push(placeOf(point, inside, [...written, ...placed], hidesDot));
  }
  return placed;
}
