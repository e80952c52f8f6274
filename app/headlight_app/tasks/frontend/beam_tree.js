// The beams of a search as a tree, on the screen and in figures: the beams kept after each step, and their parents.

import { addWords, textWidth } from "../../ui/frontend/charts/figure_text.js";
import { inlineText } from "../../ui/frontend/dom/dom.js";

/** @import { Beam, Figure } from "./types.js" */

const [ROW, GAP, HEIGHT, ENDING, PADDING] = [2.8, 2.1, 2, 1.2, 0.75]; // in font sizes
const MOST_NAME = 11; // in font sizes

/** @typedef {{ x: number, y: number, width: number, beam: Beam, lasts: "best" | "kept" | "" }} Node */

/** Marks the nodes that lead to one of the final beams, and those that lead to the best. @param {Beam[][]} steps */
export function survivors(steps) {
  /** @type {Node["lasts"][][]} */
  const lasts = steps.map((beams) => beams.map(() => ""));
  const ends = steps.at(-1) ?? [];
  for (let rank = ends.length - 1; rank >= 0; rank--) {
    let place = rank;
    for (let step = steps.length - 1; step >= 0; step--) {
      lasts[step][place] = rank === 0 ? "best" : "kept";
      place = steps[step][place].parent;
    }
  }
  return lasts;
}

/** Draws the tree, and sets the size of the figure in pixels. @param {Figure} figure @param {Beam[][]} steps */
export function addTree(figure, steps) {
  const { size } = figure.look;
  const lasts = survivors(steps);
  let x = 2;
  const columns = steps.map((beams, step) => {
    const names = beams.map(({ token }) => (token ? textWidth(inlineText(token), size) + 2 * PADDING * size : 0));
    const width = Math.min(Math.max(ENDING * size, ...names), MOST_NAME * size);
    const nodes = beams.map((beam, rank) => ({ x, y: 2 + rank * ROW * size, width, beam, lasts: lasts[step][rank] }));
    x += width + GAP * size;
    return nodes;
  });
  columns.slice(1).forEach((nodes, step) => {
    for (const node of nodes) addEdge(figure, columns[step][node.beam.parent], node);
  });
  for (const node of columns.flat()) addNode(figure, node);
  figure.width = x - GAP * size + 2;
  figure.height = Math.max(0, ...steps.map(({ length }) => length)) * ROW * size;
}

/** @param {Figure} figure @param {Node} from @param {Node} to */
function addEdge(figure, from, to) {
  const middle = (HEIGHT * figure.look.size) / 2;
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + middle, to.x, to.y + middle];
  addCurve(figure, [x1, y1, (x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2], to.lasts);
}

/** @param {Figure} figure @param {Node} node */
function addNode(figure, { x, y, width, beam, lasts }) {
  const { size, paper, ink, quiet } = figure.look;
  const height = HEIGHT * size;
  if (!beam.token) return addCurve(figure, [x, y + height / 2, x + width, y + height / 2], lasts);
  figure.shapes.push({ kind: "rectangle", x, y, width, height, fill: paper, ...strokeOf(figure, lasts) });
  const middle = { anchor: /** @type {const} */ ("middle"), room: width, bold: lasts === "best" };
  addWords(figure, inlineText(beam.token), x + width / 2, y + height / 2 + 0.35 * size, {
    ...middle,
    fill: lasts ? ink : quiet,
  });
}

/** @param {Figure} figure @param {number[]} points @param {Node["lasts"]} lasts */
function addCurve(figure, points, lasts) {
  figure.shapes.push({ kind: "curve", points, opacity: 1, dashed: false, ...strokeOf(figure, lasts) });
}

/** @param {Figure} figure @param {Node["lasts"]} lasts */
function strokeOf({ look }, lasts) {
  if (lasts === "best") return { stroke: look.beam, stroke_width: look.thick };
  return { stroke: lasts ? look.quiet : look.line, stroke_width: lasts ? 1.5 * look.thin : look.thin };
}
