// The beams of a search, to be exported beside the alignment of what was written: their tree, and their numbers.

import { addLines, addWords, LABEL_SIZE, PRINT_COLOURS, textWidth } from "../../../ui/frontend/charts/figure_text.js";
import { MARGIN } from "../../../ui/frontend/charts/shapes.js";
import { inlineText } from "../../../ui/frontend/dom/dom.js";
import { survivors } from "../beams.js";

/** @import { Figure, ShownDrawing, Table } from "../../../ui/frontend/export/types.js" */
/** @import { Beam, BeamSearchAnswer } from "../contract.js" */
/** @typedef {{ x: number, y: number, width: number, beam: Beam, lasts: string }} Node */

const [ROW, GAP, HEIGHT, ENDING] = [6, 3.5, 4.2, 2]; // millimetres
const SMALLEST = 0.7; // of the size of letters; a longer tree makes the figure wider

/** @param {ShownDrawing} drawing @param {BeamSearchAnswer} beams @returns {ShownDrawing} */
export function withBeams(drawing, beams) {
  return {
    ...drawing,
    shown: `${drawing.shown}; the beams of the search, the best in colour`,
    draw: (width, heading) => {
      const drawn = drawing.draw(width, heading);
      return { ...drawn, y: addBeams(drawn.figure, beams, drawn.y + 2) };
    },
    tables: { ...drawing.tables, Beams: rankedTable(beams), "Beams after each step": stepTable(beams) },
  };
}

/** @param {Figure} figure @param {BeamSearchAnswer} beams @param {number} y */
function addBeams(figure, { steps, texts }, y) {
  y = addLines(figure, ["Beams"], MARGIN, y, { bold: true });
  const columns = layoutTree(figure, steps, y + 1);
  const size = LABEL_SIZE * scaleOf(figure, steps);
  columns.slice(1).forEach((nodes, step) => {
    for (const node of nodes) addEdge(figure, columns[step][node.beam.parent], node);
  });
  for (const node of columns.flat()) addNode(figure, node, size);
  const end = y + 1 + Math.max(0, ...steps.map(({ length }) => length)) * ROW;
  const ranking = (steps.at(-1) ?? []).map(
    ({ score, log_probability: sum }, rank) =>
      `${rank + 1}. ${inlineText(texts[rank]) || "(nothing)"}   score ${score.toFixed(2)}, log probability ${sum.toFixed(2)}`,
  );
  return addLines(
    figure,
    ranking.map((line) => line.replace(/ -/g, " −")),
    MARGIN,
    end,
  );
}

/** @param {Beam[][]} steps @param {number} scale */
function widthsOf(steps, scale) {
  return steps.map((beams) =>
    Math.max(
      ENDING,
      ...beams.map(({ token }) => (token ? textWidth(inlineText(token), LABEL_SIZE * scale) + 2.4 * scale : 0)),
    ),
  );
}

/** How small the letters are, so that the tree fits. @param {Figure} figure @param {Beam[][]} steps */
function scaleOf(figure, steps) {
  const natural = widthsOf(steps, 1).reduce((sum, width) => sum + width + GAP, 0);
  return Math.max(SMALLEST, Math.min(1, (figure.width - 2 * MARGIN) / natural));
}

/** @param {Figure} figure @param {Beam[][]} steps @param {number} y @returns {Node[][]} */
function layoutTree(figure, steps, y) {
  const scale = scaleOf(figure, steps);
  const lasts = survivors(steps);
  const widths = widthsOf(steps, scale);
  let x = MARGIN;
  const columns = steps.map((beams, step) => {
    const left = x;
    x += widths[step] + GAP * scale;
    return beams.map((beam, rank) => ({
      x: left,
      y: y + rank * ROW,
      width: widths[step],
      beam,
      lasts: lasts[step][rank],
    }));
  });
  figure.width = Math.max(figure.width, x + MARGIN);
  return columns;
}

/** @param {Figure} figure @param {Node} from @param {Node} to */
function addEdge(figure, from, to) {
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
  const half = (x1 + x2) / 2;
  addCurve(figure, [x1, y1, half, y1, half, y2, x2, y2], to.lasts);
}

/** @param {Figure} figure @param {Node} node @param {number} size */
function addNode(figure, { x, y, width, beam, lasts }, size) {
  if (!beam.token) return addCurve(figure, [x, y + HEIGHT / 2, x + width, y + HEIGHT / 2], lasts);
  const stroke = strokeOf(lasts);
  figure.shapes.push({ kind: "rectangle", x, y, width, height: HEIGHT, fill: PRINT_COLOURS.paper, ...stroke });
  addWords(figure, inlineText(beam.token), x + width / 2, y + HEIGHT / 2 + size * 0.35, {
    size,
    anchor: "middle",
    room: width,
    bold: lasts === "best",
    fill: lasts ? PRINT_COLOURS.ink : PRINT_COLOURS.quiet,
  });
}

/** @param {Figure} figure @param {number[]} points @param {string} lasts */
function addCurve(figure, points, lasts) {
  figure.shapes.push({ kind: "curve", points, opacity: 1, dashed: false, ...strokeOf(lasts) });
}

/** @param {string} lasts */
function strokeOf(lasts) {
  if (lasts === "best") return { stroke: PRINT_COLOURS.beam, stroke_width: 0.5 };
  return { stroke: lasts ? PRINT_COLOURS.quiet : PRINT_COLOURS.line, stroke_width: lasts ? 0.25 : 0.15 };
}

/** @param {BeamSearchAnswer} beams @returns {Table} */
function rankedTable({ steps, texts }) {
  const ends = steps.at(-1) ?? [];
  return {
    name: "beams",
    axes: ["beam", "number"],
    labels: [texts.map((text, rank) => `${rank} ${text}`), ["score", "log probability", "ended"]],
    values: Float32Array.from(ends.flatMap((beam) => [beam.score, beam.log_probability, Number(beam.finished)])),
  };
}

/** @param {BeamSearchAnswer} beams @returns {Table} */
function stepTable({ steps }) {
  const all = steps.flatMap((beams, step) => beams.map((beam, rank) => ({ beam, step, rank })));
  return {
    name: "beam steps",
    axes: ["beam", "number"],
    labels: [
      all.map(({ beam, step, rank }) => `step ${step} beam ${rank} ${beam.token}`),
      ["continues beam", "score", "log probability", "ended"],
    ],
    values: Float32Array.from(
      all.flatMap(({ beam }) => [beam.parent, beam.score, beam.log_probability, Number(beam.finished)]),
    ),
  };
}
