// A flow as shapes: on the screen, and in a figure.

import { addWords } from "../../charts/figure_text.ts";
import { inlineText } from "../../dom/dom.ts";
import type { Figure } from "../../types.ts";
import type { FlowView } from "../types.ts";
import type { FlowLayout, PlacedEdge } from "./layout.ts";
import { isSquare, squareAt } from "./layout.ts";

const [NODE, END_NODE] = [3.5, 7]; // radius in pixels
const LABEL_TURN = -69; // degrees

/** @param figure in pixels */
export function addFlow(figure: Figure, view: FlowView, layout: FlowLayout) {
  figure.height = layout.height;
  const { edges } = layout;
  addLabels(figure, view, layout);
  for (const edge of edges) if (!isSquare(edge)) addLine(figure, edge, false);
  addNodes(figure, edges);
  for (const edge of edges) if (isSquare(edge)) addSquare(figure, edge, layout, false);
  addEnd(figure, view, layout);
}

/** An edge that stands out. */
export function addHotEdge(figure: Figure, edge: PlacedEdge, layout: FlowLayout) {
  if (isSquare(edge)) addSquare(figure, edge, layout, true);
  else addLine(figure, edge, true);
}

function addLabels(figure: Figure, { columns, rows, tokens, end }: FlowView, { top, x, y }: FlowLayout) {
  const { size, ink, quiet } = figure.look;
  rows.forEach((name, row) => {
    addWords(figure, name, 4, y(row) + 0.35 * size, { anchor: "start", room: 4 * size, fill: quiet });
  });
  columns.forEach((name, column) => {
    const look = { bold: column === end, fill: column === end ? ink : quiet };
    const place = { anchor: "start" as const, turn: LABEL_TURN, room: 6.3 * size };
    const words = `${inlineText(name)}${tokens[column][0] === "source" ? " (source)" : ""}`;
    addWords(figure, words, x(column) + 0.35 * size, top - 14, { ...place, ...look });
  });
}

/** The last node, and the text under it. */
function addEnd(figure: Figure, { rows, end, end_text }: FlowView, layout: FlowLayout) {
  const { beam, ink, size } = figure.look;
  const [x, y] = [layout.x(end), layout.y(rows.length - 1)];
  figure.shapes.push({ kind: "circle", x, y, radius: END_NODE, stroke: beam, stroke_width: 2 });
  // Centred under its node, unless that is near the edge.
  const [from, room] = [Math.min(Math.max(x, 4 * size), layout.width - 4 * size), 8 * size];
  addWords(figure, end_text, from, y + 20 + size / 3, { anchor: "middle", room, bold: true, fill: ink });
}

function addLine({ shapes, look }: Figure, { form, share, from, to }: PlacedEdge, hot: boolean) {
  const stream = form === "stream";
  const bend = (to.y - from.y) * 0.5;
  const thick = Math.max(1, Math.min(share * (stream ? 6 : 22), 9)) + (hot ? 1.5 : 0);
  shapes.push({
    kind: "curve",
    points: [from.x, from.y, from.x, from.y + bend, to.x, to.y - bend, to.x, to.y],
    stroke: hot ? look.ink : stream ? look.quiet : form === "second line" ? look.minus : look.beam,
    stroke_width: (thick * look.size) / 12,
    opacity: hot ? 1 : stream ? 0.35 : Math.min(0.3 + share * 3, 1),
    dashed: false,
  });
}

function addNodes({ shapes, look }: Figure, edges: PlacedEdge[]) {
  const places = new Map(edges.flatMap(({ from, to }) => [from, to]).map((place) => [`${place.x} ${place.y}`, place]));
  for (const { x, y } of places.values()) shapes.push({ kind: "circle", x, y, radius: NODE, fill: look.ink });
}

/** A square whose size shows its share. */
function addSquare({ shapes, look }: Figure, edge: PlacedEdge, layout: FlowLayout, hot: boolean) {
  const side = 4 + Math.sqrt(edge.share) * 16;
  const { x, y } = squareAt(edge, layout);
  const place = { x: x - side / 2, y: y - side / 2, width: side, height: side };
  const fill = hot ? look.ink : look.beam;
  shapes.push({ kind: "rectangle", ...place, fill, stroke: look.paper, stroke_width: look.thin });
}
