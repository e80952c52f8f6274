// A model's diagram as shapes of a figure.

import { addWords } from "../charts/figure_text.js";

/** @import { Figure } from "../export/types.js" */
/** @import { DiagramBox, DiagramLayout, DiagramLine } from "./types.js" */

const [TITLE, DETAIL] = [13 / 12, 11.5 / 12]; // sizes of words, in that of the figure
const SUM = 9; // pixels from the middle of a sum
const TIP = 5; // pixels of an arrow's head

/** @param {Figure} figure in pixels @param {DiagramLayout} layout */
export function addDiagram(figure, { boxes, lines, sums, frames, height }) {
  figure.height = height;
  const { shapes, look } = figure;
  const edge = { stroke: look.line, stroke_width: look.thin };
  for (const { x, y, width, height: tall } of frames)
    shapes.push({ kind: "rectangle", x, y, width, height: tall, fill: look.ground });
  for (const line of lines) addLine(figure, line);
  for (const { x, y } of sums) {
    shapes.push({ kind: "circle", x, y, radius: SUM, fill: look.paper, ...edge });
    addWords(figure, "+", x, y + 0.35 * look.size, { anchor: "middle", room: 2 * SUM });
  }
  for (const box of boxes) addBox(figure, box);
}

/** @param {Figure} figure @param {DiagramLine} line */
function addLine({ shapes, look }, { points, arrow, memory }) {
  const line = { kind: /** @type {const} */ ("polyline"), stroke: look.quiet, stroke_width: 1.5, opacity: 1 };
  shapes.push({ ...line, points, dashed: Boolean(memory) });
  if (!arrow) return;
  const [fromX, fromY, x, y] = points.slice(-4);
  const long = Math.hypot(x - fromX, y - fromY) || 1;
  const [across, down] = [((x - fromX) / long) * TIP, ((y - fromY) / long) * TIP];
  const tip = [x - across - down, y - down + across, x, y, x - across + down, y - down - across];
  shapes.push({ ...line, points: tip, dashed: false });
}

/** @param {Figure} figure @param {DiagramBox} box */
function addBox(figure, { x, y, width, height, lines }) {
  const { shapes, look } = figure;
  shapes.push({ kind: "rectangle", x, y, width, height, fill: look.paper, stroke: look.line, stroke_width: look.thin });
  const step = height / (lines.length + 0.6);
  lines.forEach((words, place) => {
    const size = look.size * (place ? DETAIL : TITLE);
    const style = { size, bold: !place, fill: place ? look.quiet : look.ink };
    const middle = { anchor: /** @type {const} */ ("middle"), room: width - 8 };
    addWords(figure, words, x + width / 2, y + (place + 0.8) * step + size * 0.35, { ...middle, ...style });
  });
}
