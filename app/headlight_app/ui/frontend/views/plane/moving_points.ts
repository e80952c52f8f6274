// Named points that move from frame to frame, with a slider and a button that plays them; in a figure, the last frame.

import { addCurve, seriesColour } from "../../charts/figure_charts.ts";
import { addLines, beginSheet, wrapText } from "../../charts/figure_text.ts";
import { shapeElement, svg } from "../../charts/svg.ts";
import { createElement } from "../../dom/dom.ts";
import { remembered } from "../../dom/memory.ts";
import type { Box, Figure } from "../../export/types.ts";
import type { MovingPointsView, Numeric } from "../types.ts";
import type { Name, Place, PlacedName, Plane } from "./plane.ts";
import {
  addName,
  addPlaneDrawing,
  createPlane,
  GAP,
  LARGE,
  nameAt,
  nameWidth,
  placing,
  writtenExtents,
} from "./plane.ts";
import { addPoint, placeLabels } from "./points.ts";

const FRAME_MILLISECONDS = 90;
const TRAIL_OPACITY = 0.35;

const knownWidths = remembered((_view: MovingPointsView) => new Map<string, number>()); // of names

export function createMovingPoints(view: MovingPointsView) {
  const { frames, names } = view;
  if (!frames.length) return createElement("div");
  const plane = movingPlane(view, () => {});
  const { place } = placing(plane.vectors, LARGE);
  const moving = svg("g");
  const show = (frame: number) => {
    slider.value = String(frame);
    caption.textContent = names[frame];
    const drawn = beginSheet(LARGE, "");
    addFrame(drawn, view, { frame, place, placeNames: placeBeside });
    moving.replaceChildren(...drawn.shapes.map((shape) => shapeElement(shape, [])));
  };
  const range = { type: "range", min: "0", max: String(frames.length - 1), step: "1" };
  const slider = createElement("input", "", [], { ...range, ariaLabel: "Frame" });
  const caption = createElement("output", "quiet");
  const play = createElement("button", "small", "Play");
  let timer = 0;
  const current = () => Number(slider.value);
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  const step = () => {
    if (current() < frames.length - 1) show(current() + 1);
    if (current() === frames.length - 1) stop();
  };
  play.onclick = () => {
    if (timer) return stop();
    if (current() === frames.length - 1) show(0); // from the first frame, if the last one is shown
    play.textContent = "Stop";
    timer = window.setInterval(step, FRAME_MILLISECONDS);
  };
  slider.oninput = () => {
    stop();
    show(current());
  };
  const box = createPlane(plane, [createElement("div", "player", [play, slider, caption])]);
  box.querySelector("svg")?.append(moving);
  show(0);
  return box;
}

/** The last frame with the trails to it. Returns the bottom edge. */
export function addMovingPoints(figure: Figure, view: MovingPointsView, box: Box) {
  if (!view.frames.length) return box.y;
  const shown = { frame: view.frames.length - 1, placeNames: placeLabels };
  const plane = movingPlane(view, (sheet, place) => addFrame(sheet, view, { ...shown, place }));
  const { size, quiet: fill } = figure.look;
  const named = addLines(figure, wrapText(view.names[shown.frame], size, box.width), box.x, box.y, { fill });
  return addPlaneDrawing(figure, plane, { ...box, y: named });
}

function movingPlane({ labels, frames, group_titles }: MovingPointsView, draw: Plane["draw"]): Plane {
  const vectors = frames.flat().map(vectorOf);
  return { size: LARGE, vectors, words: labels.join(", "), groups: group_titles, draw };
}

function vectorOf([x, y]: Numeric[]): [number, number] {
  return [Number(x), Number(y)];
}

/** @param placeNames from the places of the points */
function addFrame(
  figure: Figure,
  view: MovingPointsView,
  { frame, place, placeNames }: { frame: number; place: Place; placeNames: typeof placeLabels },
) {
  const { labels, frames, groups } = view;
  const { look, width } = figure;
  const vectors = frames[frame].map(vectorOf);
  const words = namesTogether(labels, vectors);
  const places = vectors.map((vector) => place(...vector));
  const names = placeNames(
    places.map((point, index) => nameAt(words[index], point, width, (name) => knownWidth(view, name))),
    width,
    writtenExtents(figure),
  );
  labels.forEach((_, index) => {
    const trail = frames.slice(0, frame + 1).map((points) => place(...vectorOf(points[index])));
    const stroke = seriesColour(look, groups[index] ?? index);
    addCurve(figure, trail, { stroke, stroke_width: 1.5 * look.thin, opacity: TRAIL_OPACITY, dashed: false });
  });
  labels.forEach((_, index) => {
    if (!places[index].every(Number.isFinite)) return;
    addPoint(figure, places[index], groups[index] ?? index);
    if (words[index]) addName(figure, names[index]);
  });
}

/** The width of a name, measured once for all frames. */
function knownWidth(view: MovingPointsView, name: string) {
  const known = knownWidths(view);
  const width = known.get(name) ?? nameWidth(name);
  known.set(name, width);
  return width;
}

/** Always on the same side of its point, so that it does not jump between frames, unless it would be cut. */
function placeBeside(points: Name[], size: number): PlacedName[] {
  return points.map((point) => {
    const { left, top, width } = point;
    const isCut = left + GAP + width > size;
    return { ...point, left: isCut ? left - GAP - width : left + GAP, top: top + 4, isCovered: false };
  });
}

/** The label beside each point: points at the same position have their names beside the first of them. */
export function namesTogether(labels: string[], points: [number, number][]) {
  const places = points.map((point) => point.map((number) => number.toFixed(3)).join());
  return places.map((place, index) =>
    places.indexOf(place) === index ? labels.filter((_, other) => places[other] === place).join(", ") : "",
  );
}
