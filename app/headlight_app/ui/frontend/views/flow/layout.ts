// The layout of a flow: a column for each token, a row for each depth, and edges from row to row.

import type { FlowEdge, FlowView } from "../types.ts";

/** An edge with its place on the sheet. */
export interface PlacedEdge {
  form: FlowView["kinds"][string]["form"];
  kind: string;
  share: number;
  edge: FlowEdge;
  from: { x: number; y: number };
  to: { x: number; y: number };
}
/** Sizes in pixels; `x` by column, `y` by row. */
export interface FlowLayout {
  edges: PlacedEdge[];
  step: number; // from column to column
  row: number; // from row to row
  top: number;
  width: number;
  height: number;
  x: (column: number) => number;
  y: (row: number) => number;
}

const [LEFT, TOP, BOTTOM] = [52, 84, 40];
const NEAR = 7; // pixels: the maximum distance of the pointer from an edge that it hits

/** @param width of the frame */
export function layoutFlow({ columns, rows, edges, kinds }: FlowView, width: number): FlowLayout {
  const step = Math.min(Math.max((width - LEFT - 20) / columns.length, 26), 84);
  const row = Math.min(Math.max(330 / Math.max(rows.length - 1, 1), 30), 64);
  const x = (column: number) => LEFT + (column + 0.5) * step;
  const y = (depth: number) => TOP + depth * row;
  return {
    edges: edges.map((edge) => {
      const [kind, depth, source, target, share] = edge;
      const [from, to] = [
        { x: x(source), y: y(depth) },
        { x: x(target), y: y(depth + 1) },
      ];
      return { form: kinds[kind].form, kind, share: Number(share), edge, from, to };
    }),
    ...{ step, row, x, y, top: TOP },
    width: Math.max(LEFT + columns.length * step + 12, 200),
    height: y(rows.length - 1) + BOTTOM,
  };
}

/** Whether a share is drawn as a square beside its token's stream. */
export function isSquare({ form }: Pick<PlacedEdge, "form">) {
  return form === "square" || form === "second square";
}

/** The squares of the two forms are on opposite sides of the stream. */
export function squareAt(
  { form, to }: Pick<PlacedEdge, "form" | "to">,
  { step, row }: Pick<FlowLayout, "step" | "row">,
) {
  const aside = Math.min(step * 0.22, 12);
  return { x: to.x + (form === "square" ? aside : -aside), y: to.y - row * 0.28 };
}

/** The index of the nearest edge within a few pixels of a point on the sheet, or -1. */
export function edgeAt(layout: FlowLayout, x: number, y: number) {
  let [best, nearest] = [-1, NEAR];
  layout.edges.forEach((edge, index) => {
    const distance = isSquare(edge) ? distanceToSquare(squareAt(edge, layout), x, y) : distanceToCurve(edge, x, y);
    // Squares are drawn on top, so they win over curves.
    if (distance < nearest) [best, nearest] = [index, isSquare(edge) ? Math.max(distance, 0) / 2 : distance];
  });
  return best;
}

function distanceToSquare(square: { x: number; y: number }, x: number, y: number) {
  return Math.max(Math.abs(square.x - x), Math.abs(square.y - y)) - 4;
}

/** The curve's height is nearly linear in its parameter, so its point at this height needs no search. */
function distanceToCurve({ form, from, to }: PlacedEdge, x: number, y: number) {
  const part = (y - from.y) / (to.y - from.y);
  if (part < 0 || part > 1) return Infinity;
  return Math.abs(from.x + (to.x - from.x) * (3 * part ** 2 - 2 * part ** 3) - x) + (form === "stream" ? 1 : 0);
}
