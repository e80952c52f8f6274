// Nodes joined by edges, each coloured by its share; on the screen and in figures.

import { divergingColour, mixedShare } from "../../charts/charts.ts";
import { hexColour, tint } from "../../charts/colours.ts";
import { addWords, beginSheet, PRINT_SHEET } from "../../charts/figure_text.ts";
import { addDrawing } from "../../charts/shapes.ts";
import { figureSheet } from "../../charts/svg.ts";
import { createElement } from "../../dom/dom.ts";
import { formatPercent } from "../../dom/numbers.ts";
import type { Box, Figure } from "../../export/types.ts";
import type { GraphView } from "../types.ts";

const [UNIT, MARGIN, RADIUS] = [72, 34, 23]; // pixels: length of an edge, margin of the graph, radius of a node

export function createGraph(view: GraphView) {
  const figure = beginSheet(0, describe(view));
  addGraph(figure, view, divergingColour, Infinity);
  const box = createElement("div", "chart graph", [figureSheet(figure)]);
  box.style.width = `${figure.width}px`;
  return box;
}

/** The same in a figure for print. Returns its bottom edge. */
export function addGraphDrawing(figure: Figure, view: GraphView, box: Box) {
  const sheet = beginSheet(0, "", PRINT_SHEET);
  addGraph(sheet, view, (share) => hexColour(tint(PRINT_SHEET.beam, mixedShare(share))), UNIT);
  return addDrawing(figure, sheet, box);
}

/** Draws the graph, and sets the size of the figure in pixels. @param colourOf a share @param room of a name */
function addGraph(figure: Figure, view: GraphView, colourOf: (share: number) => string, room: number) {
  const { shapes, look } = figure;
  const points = view.places.map(([x, y]) => [Number(x) * UNIT, Number(y) * UNIT]);
  if (!points.length) return;
  const [left, top] = [0, 1].map((axis) => Math.min(...points.map((point) => point[axis])) - MARGIN);
  const [right, bottom] = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])) + MARGIN);
  [figure.width, figure.height] = [right - left, bottom - top];
  const at = (node: number) => [points[node][0] - left, points[node][1] - top];
  for (const [one, other] of view.edges) {
    const line = { stroke: look.line, stroke_width: 2 * look.thin, opacity: 1, dashed: false };
    shapes.push({ kind: "polyline", points: [...at(one), ...at(other)], ...line });
  }
  view.nodes.forEach((name, node) => {
    const [[x, y], share, hasShare] = [at(node), Number(view.shades[node]), view.shades.length > 0];
    const [stroke, thick] = node === view.marked ? [look.ink, 3] : [look.line, 1.2];
    const fill = Number.isFinite(share) ? colourOf(share) : look.paper;
    shapes.push({ kind: "circle", x, y, radius: RADIUS, fill, stroke, stroke_width: thick * look.thin });
    const middle = { anchor: "middle" as const, room };
    addWords(figure, name, x, hasShare ? y - 2 : y + 4, { ...middle, size: 13, bold: true });
    if (hasShare) addWords(figure, shareWords(share), x, y + 12, middle);
  });
}

function describe({ nodes, edges, shades }: GraphView) {
  const shares = nodes.map((name, node) => (shades.length ? `${name} ${shareWords(Number(shades[node]))}` : name));
  return `${shares.join(", ")}; edges ${edges.map(([one, other]) => `${nodes[one]}–${nodes[other]}`).join(", ")}`;
}

function shareWords(share: number) {
  return formatPercent(share, 0);
}
