// The plane for vectors and points: the same scale on both axes, zero in the middle; on the screen and in figures.

import { addLegend, addLine } from "../../charts/figure_charts.ts";
import { addWords, beginSheet, PRINT_SHEET, textWidth } from "../../charts/figure_text.ts";
import { ticks } from "../../charts/scale.ts";
import { addDrawing, roomOf } from "../../charts/shapes.ts";
import { figureSheet } from "../../charts/svg.ts";
import { createElement, shortenText } from "../../dom/dom.ts";
import { formatNumber } from "../../dom/numbers.ts";
import type { Box, Figure } from "../../export/types.ts";
import { createLegend } from "../lines.ts";

type Vector = [x: number, y: number];
export type Place = (x: number, y: number) => Vector; // of a vector, from the upper left corner
/** A plane for some vectors: `words` are its text alternative, `groups` the names of its colours. */
export interface Plane {
  size: number; // of each side in pixels, at most
  vectors: Vector[];
  words: string;
  groups: string[];
  draw(figure: Figure, place: Place): void;
}
export type Extent = { left: number; top: number; width: number }; // of a line of text: its left end and its baseline
export type Name = Extent & { words: string };
export type PlacedName = Name & { isCovered: boolean };

export const SIZE = 320;
export const LARGE = 560; // for many names
export const LINE = 13; // the height of a name
const MARGIN = 26;
export const GAP = 8; // pixels between a point and its name
const EDGE = 6; // from a line to the edge

/** @param controls above it */
export function createPlane(plane: Plane, controls: Node[] = []) {
  const figure = beginSheet(plane.size, plane.words);
  addPlane(figure, plane);
  const style = plane.size > SIZE ? "chart plane large" : "chart plane";
  return createElement("div", style, [...controls, figureSheet(figure), createLegend(plane.groups)]);
}

/** The same in a figure for print. Returns its bottom edge. */
export function addPlaneDrawing(figure: Figure, plane: Plane, box: Box) {
  const sheet = beginSheet(Math.min(plane.size, roomOf(box)), "", PRINT_SHEET);
  addPlane(sheet, plane);
  const y = addDrawing(figure, sheet, box);
  const names = plane.groups.map((name) => ({ name }));
  return names.length > 1 ? addLegend(figure, names, { ...box, y }) : y;
}

/** The axes and what is drawn between them. @param figure as wide as the plane */
function addPlane(figure: Figure, { vectors, draw }: Plane) {
  const size = figure.width;
  const { reach, place } = placing(vectors, size);
  figure.height = size;
  for (const mark of ticks(-reach, reach)) {
    const [left, top] = place(mark, mark);
    addLine(figure, [left, EDGE, left, size - EDGE], mark !== 0);
    addLine(figure, [EDGE, top, size - EDGE, top], mark !== 0);
    const below = { anchor: "middle" as const, room: size, fill: figure.look.quiet };
    if (mark !== 0) addWords(figure, formatNumber(mark, 3), left, size / 2 + 14, below);
  }
  draw(figure, place);
}

/** How far the axes reach, so that all vectors fit, and the place of a vector. */
export function placing(vectors: Vector[], size: number): { reach: number; place: Place } {
  const reach = Math.max(...vectors.flat().map(Math.abs).filter(Number.isFinite), 1e-9) * 1.12;
  const scale = (size / 2 - MARGIN) / reach;
  return { reach, place: (x, y) => [size / 2 + x * scale, size / 2 - y * scale] };
}

/** A name at a point, cut to the room on the wider side of it. */
export function nameAt(words: string, [left, top]: Vector, size: number, measure = nameWidth): Name {
  const cut = shortenText(words, Math.max(left, size - left) - GAP, measure);
  return { words: cut, left, top, width: measure(cut) };
}

export function nameWidth(words: string) {
  return textWidth(words, LINE, true);
}

/** Names that are placed; one that would cover others is only written on the screen, where it has an edge around it. */
export function addName({ shapes, look }: Figure, { words, left, top, width, isCovered }: PlacedName) {
  if (isCovered && look === PRINT_SHEET) return;
  const type = { size: LINE, anchor: "start" as const, rotation: 0, bold: true, fill: look.ink };
  shapes.push({ kind: "text", x: left, y: top, ...type, text: words, text_width: width });
}

/** Where something is written already. */
export function writtenExtents({ shapes }: Figure): Extent[] {
  return shapes.flatMap((shape) => {
    if (shape.kind !== "text") return [];
    const share = { start: 0, middle: 0.5, end: 1 }[shape.anchor];
    return [{ left: shape.x - share * shape.text_width, top: shape.y, width: shape.text_width }];
  });
}

/** The first of some places for a name that covers none of those `taken`. @param isWorse whether another is better */
export function placeOf(
  name: Name,
  places: Extent[],
  taken: Extent[],
  isWorse: (place: Extent) => boolean,
): PlacedName {
  const free = places.filter((place) => !taken.some((other) => isCovering(place, other)));
  const found = free.find((place) => !isWorse(place)) ?? free[0];
  return { ...name, ...(found ?? places[0]), isCovered: !found };
}

export function isCovering(one: Extent, other: Extent) {
  const apart = one.left >= other.left + other.width || other.left >= one.left + one.width;
  return !apart && Math.abs(one.top - other.top) < LINE;
}
