// The diagram of a model in figures for print, from the same layout as on the screen.

import { hexColour, tint } from "../../charts/colours.ts";
import { addWords, beginSheet, PRINT_SHEET } from "../../charts/figure_text.ts";
import { addDrawing, arrowHead, roomOf } from "../../charts/shapes.ts";
import type { Box, Figure } from "../../export/types.ts";
import { layoutDiagram } from "../../model_diagram/diagram_layout.ts";
import type { DiagramBox, DiagramLine } from "../../model_diagram/types.ts";
import type { ModelDiagramView } from "../types.ts";

const [TITLE_SIZE, DETAIL_SIZE] = [13, 11.5];
const [RADIUS, ARM] = [9, 5]; // pixels of the sign of a sum
const HEAD = 7; // the sides of an arrow's head
const BLOCK = hexColour(tint(PRINT_SHEET.ground, 0.6));
const NETWORK = "#4a83cc";
const SHADE = 0.16; // of a colour in white

/** Returns the bottom edge. */
export function addDiagram(figure: Figure, { diagram }: ModelDiagramView, box: Box) {
  const layout = layoutDiagram(diagram, roomOf(box) - 2);
  const sheet = beginSheet(layout.width + 2, "", PRINT_SHEET);
  sheet.height = layout.height;
  const { shapes, look } = sheet;
  for (const frame of layout.frames)
    shapes.push({ kind: "rectangle", ...frame, fill: BLOCK, stroke: look.line, stroke_width: look.thin });
  for (const line of layout.lines) addFlow(sheet, line);
  for (const { x, y } of layout.sums) {
    shapes.push({ kind: "circle", x, y, radius: RADIUS, fill: look.paper, stroke: look.ink, stroke_width: 1.5 });
    addStroke(sheet, [x - ARM, y, x + ARM, y], look.ink);
    addStroke(sheet, [x, y - ARM, x, y + ARM], look.ink);
  }
  for (const part of layout.boxes) addPart(sheet, part);
  return addDrawing(figure, sheet, box);
}

function addFlow(figure: Figure, { points, arrow, memory = false }: DiagramLine) {
  const stroke = memory ? figure.look.beam : figure.look.quiet;
  addStroke(figure, points, stroke, memory);
  if (arrow) addStroke(figure, arrowHead(points, HEAD), stroke);
}

function addStroke({ shapes }: Figure, points: number[], stroke: string, dashed: boolean = false) {
  shapes.push({ kind: "polyline", points, stroke, stroke_width: 1.5, opacity: 1, dashed });
}

function addPart(figure: Figure, { part, x, y, width, height, lines }: DiagramBox) {
  const { shapes, look } = figure;
  const { fill, stroke } = coloursOf(figure, part.kind);
  if (part.kind !== "open") shapes.push({ kind: "rectangle", x, y, width, height, fill, stroke, stroke_width: 1.2 });
  const step = height / (lines.length + 0.6);
  lines.forEach((words, place) => {
    const type = place ? { size: DETAIL_SIZE, fill: look.quiet } : { size: TITLE_SIZE, bold: true };
    const base = y + (place + 0.8) * step + type.size * 0.35;
    addWords(figure, words, x + width / 2, base, { anchor: "middle", room: width - 8, ...type });
  });
}

function coloursOf({ look }: Figure, kind: string) {
  if (kind === "self" || kind === "cross") return { fill: hexColour(tint(look.beam, SHADE)), stroke: look.beam };
  if (kind === "feed_forward") return { fill: hexColour(tint(NETWORK, SHADE)), stroke: NETWORK };
  if (kind === "layer") return { fill: BLOCK, stroke: look.line };
  const isRaised = ["norm", "final_norm", "input"].includes(kind);
  return { fill: isRaised ? look.ground : look.paper, stroke: look.line };
}
