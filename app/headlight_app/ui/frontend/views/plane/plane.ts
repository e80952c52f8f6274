// The plane for vectors and points: the same scale on both axes, zero in the middle; on the screen and in figures.

import { formatNumber } from "../../charts/charts.ts";
import { addLegend, addLine } from "../../charts/figure_charts.ts";
import { addWords, beginSheet, PRINT_SHEET, textWidth } from "../../charts/figure_text.ts";
import { ticks } from "../../charts/scale.ts";
import { addDrawing, roomOf } from "../../charts/shapes.ts";
import { figureSheet } from "../../charts/svg.ts";
import { createElement } from "../../dom/dom.ts";
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
export type Name = { left: number; top: number; width: number }; // its left end and its baseline

export const SIZE = 320;
export const LARGE = 560; // for many names
export const LINE = 13; // the height of a name
const MARGIN = 26;
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

export function addName(figure: Figure, words: string, { left, top }: Pick<Name, "left" | "top">) {
  addWords(figure, words, left, top, { anchor: "start", room: figure.width, size: LINE, bold: true });
}

export function nameWidth(words: string) {
  return textWidth(words, LINE, true);
}

export function isCovering(one: Name, other: Name) {
  const apart = one.left >= other.left + other.width || other.left >= one.left + one.width;
  return !apart && Math.abs(one.top - other.top) < LINE;
}
