// A tree of texts that branch from step to step, on the screen and in figures.

import { addWords, beginSheet, PRINT_SHEET, textWidth } from "../../charts/figure_text.ts";
import { addDrawing } from "../../charts/shapes.ts";
import { figureSheet } from "../../charts/svg.ts";
import { createElement, inlineText } from "../../dom/dom.ts";
import type { Box, Figure } from "../../export/types.ts";
import type { TreeView } from "../types.ts";

const [ROW, GAP, HEIGHT, ENDING, PADDING] = [2.8, 2.1, 2, 1.2, 0.75]; // in font sizes
const MOST_NAME = 11; // in font sizes

type Lasts = "best" | "kept" | ""; // whether a node leads to the first of the last nodes, or to another of them
type Node = { x: number; y: number; width: number; parent: number; text: string; lasts: Lasts };

export function createTree({ title, steps }: TreeView) {
  const figure = beginSheet(0, title);
  addTree(figure, steps);
  const sheet = figureSheet(figure);
  sheet.setAttribute("width", String(figure.width));
  return createElement("div", "chart tree", [sheet], { tabIndex: 0, role: "group", ariaLabel: title });
}

/** The same in a figure for print. Returns its bottom edge. */
export function addTreeDrawing(figure: Figure, { steps }: TreeView, box: Box) {
  const drawing = beginSheet(0, "", PRINT_SHEET);
  addTree(drawing, steps);
  return addDrawing(figure, drawing, box);
}

/** Marks the nodes that lead to one of the last nodes, and those that lead to the first of these. */
export function survivors(steps: TreeView["steps"]) {
  const lasts: Lasts[][] = steps.map((nodes) => nodes.map(() => ""));
  const ends = steps.at(-1) ?? [];
  for (let rank = ends.length - 1; rank >= 0; rank--) {
    let place = rank;
    for (let step = steps.length - 1; step >= 0; step--) {
      lasts[step][place] = rank === 0 ? "best" : "kept";
      place = steps[step][place][0];
    }
  }
  return lasts;
}

/** Draws the tree, and sets the size of the figure in pixels. */
function addTree(figure: Figure, steps: TreeView["steps"]) {
  const { size } = figure.look;
  const lasts = survivors(steps);
  let x = 2;
  const columns = steps.map((nodes, step) => {
    const names = nodes.map(([, text]) => (text ? textWidth(inlineText(text), size) + 2 * PADDING * size : 0));
    const width = Math.min(Math.max(ENDING * size, ...names), MOST_NAME * size);
    const placed = nodes.map(([parent, text], rank) => {
      return { x, y: 2 + rank * ROW * size, width, parent, text, lasts: lasts[step][rank] };
    });
    x += width + GAP * size;
    return placed;
  });
  columns.slice(1).forEach((nodes, step) => {
    for (const node of nodes) addEdge(figure, columns[step][node.parent], node);
  });
  for (const node of columns.flat()) addNode(figure, node);
  figure.width = x - GAP * size + 2;
  figure.height = Math.max(0, ...steps.map(({ length }) => length)) * ROW * size;
}

function addEdge(figure: Figure, from: Node, to: Node) {
  const middle = (HEIGHT * figure.look.size) / 2;
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + middle, to.x, to.y + middle];
  addCurve(figure, [x1, y1, (x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2], to.lasts);
}

function addNode(figure: Figure, { x, y, width, text, lasts }: Node) {
  const { size, paper, ink, quiet } = figure.look;
  const height = HEIGHT * size;
  if (!text) return addCurve(figure, [x, y + height / 2, x + width, y + height / 2], lasts);
  figure.shapes.push({ kind: "rectangle", x, y, width, height, fill: paper, ...strokeOf(figure, lasts) });
  const middle = { anchor: "middle" as const, room: width, bold: lasts === "best" };
  addWords(figure, inlineText(text), x + width / 2, y + height / 2 + 0.35 * size, {
    ...middle,
    fill: lasts ? ink : quiet,
  });
}

function addCurve(figure: Figure, points: number[], lasts: Lasts) {
  figure.shapes.push({ kind: "curve", points, opacity: 1, dashed: false, ...strokeOf(figure, lasts) });
}

function strokeOf({ look }: Figure, lasts: Lasts) {
  if (lasts === "best") return { stroke: look.beam, stroke_width: look.thick };
  return { stroke: lasts ? look.quiet : look.line, stroke_width: lasts ? 1.5 * look.thin : look.thin };
}
