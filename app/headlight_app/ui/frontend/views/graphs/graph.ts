// Nodes joined by edges, each coloured by its share; on the screen and in figures.

import { divergingColour, mixedShare } from "../../charts/charts.ts";
import { hexColour, tint } from "../../charts/colours.ts";
import { addWords, beginSheet, PRINT_SHEET } from "../../charts/figure_text.ts";
import { addDrawing } from "../../charts/shapes.ts";
import { figureSheet } from "../../charts/svg.ts";
import { createElement } from "../../dom/dom.ts";
import type { Box, Figure } from "../../export/types.ts";
import type { GraphView } from "../types.ts";

const [UNIT, MARGIN, RADIUS] = [72, 34, 23]; // pixels: length of an edge, margin of the graph, radius of a node

export function createGraph(view: GraphView) {
  const figure = beginSheet(0, describe(view));
  addGraph(figure, view, divergingColour);
  const box = createElement("div", "chart graph", [figureSheet(figure)]);
  box.style.width = `${figure.width}px`;
  return box;
}

/** The same in a figure for print. Returns its bottom edge. */
export function addGraphDrawing(figure: Figure, view: GraphView, box: Box) {
  const sheet = beginSheet(0, "", PRINT_SHEET);
  addGraph(sheet, view, (share) => hexColour(tint(PRINT_SHEET.beam, mixedShare(share))));
  return addDrawing(figure, sheet, box);
}

/** Draws the graph, and sets the size of the figure in pixels. @param colourOf a share */
function addGraph(figure: Figure, view: GraphView, colourOf: (share: number) => string) {
  const { shapes, look } = figure;
  const points = view.places.map(([x, y]) => [Number(x) * UNIT, Number(y) * UNIT]);
  const [left, top] = [0, 1].map((axis) => Math.min(...points.map((point) => point[axis])) - MARGIN);
  const [right, bottom] = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])) + MARGIN);
  [figure.width, figure.height] = [right - left, bottom - top];
  const at = (node: number) => [points[node][0] - left, points[node][1] - top];
  for (const [one, other] of view.edges) {
    const line = { stroke: look.line, stroke_width: 2 * look.thin, opacity: 1, dashed: false };
    shapes.push({ kind: "polyline", points: [...at(one), ...at(other)], ...line });
  }
  view.nodes.forEach((name, node) => {
    const [[x, y], share] = [at(node), view.shades[node]];
    const [stroke, thick] = node === view.marked ? [look.ink, 3] : [look.line, 1.2];
    const fill = share === undefined ? look.paper : colourOf(share);
    shapes.push({ kind: "circle", x, y, radius: RADIUS, fill, stroke, stroke_width: thick * look.thin });
    const middle = { anchor: "middle" as const, room: UNIT };
    addWords(figure, name, x, share === undefined ? y + 4 : y - 2, { ...middle, size: 13, bold: true });
    if (share !== undefined) addWords(figure, shareWords(share), x, y + 12, middle);
  });
}

function describe({ nodes, edges, shades }: GraphView) {
  const shares = nodes.map((name, node) => (shades.length ? `${name} ${shareWords(shades[node])}` : name));
  return `${shares.join(", ")}; edges ${edges.map(([one, other]) => `${nodes[one]}–${nodes[other]}`).join(", ")}`;
}

function shareWords(share: number) {
  return `${Math.round(share * 100)} %`;
}
