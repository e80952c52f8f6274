// The export of the beams of a search, in addition to the alignment: their tree, and their numbers.

import { addLines, beginSheet, LABEL_SIZE, PRINT_SHEET, wrapText } from "../../../ui/frontend/charts/figure_text.js";
import { addDrawing, MARGIN } from "../../../ui/frontend/charts/shapes.js";
import { inlineText } from "../../../ui/frontend/dom/dom.js";
import { createTable } from "../../../ui/frontend/export/page_export.js";
import { addTree } from "../beam_tree.js";

/** @import { BeamSearchAnswer, Figure, ShownDrawing, Table } from "../types.js" */

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
  y = addLines(figure, ["Beams"], MARGIN, y, { bold: true }) + 1;
  const tree = beginSheet(0, "", PRINT_SHEET);
  addTree(tree, steps);
  const room = figure.width - 2 * MARGIN;
  const end = addDrawing(figure, tree, { x: MARGIN, y, width: room });
  const ranking = (steps.at(-1) ?? []).map(
    ({ score, log_probability: sum }, rank) =>
      `${rank + 1}. ${inlineText(texts[rank]) || "(nothing)"}   score ${score.toFixed(2)}, log probability ${sum.toFixed(2)}`,
  );
  const lines = ranking.flatMap((line) => wrapText(line.replace(/ -/g, " −"), LABEL_SIZE, room));
  return addLines(figure, lines, MARGIN, end);
}

/** @param {BeamSearchAnswer} beams @returns {Table} */
function rankedTable({ steps, texts }) {
  const ends = steps.at(-1) ?? [];
  return createTable(
    "beams",
    { beam: texts.map((text, rank) => `${rank} ${text}`), number: ["score", "log probability", "ended"] },
    ends.flatMap((beam) => [beam.score, beam.log_probability, Number(beam.finished)]),
  );
}

/** @param {BeamSearchAnswer} beams @returns {Table} */
function stepTable({ steps }) {
  const all = steps.flatMap((beams, step) => beams.map((beam, rank) => ({ beam, step, rank })));
  const labels = {
    beam: all.map(({ beam, step, rank }) => `step ${step} beam ${rank} ${beam.token}`),
    number: ["continues beam", "score", "log probability", "ended"],
  };
  const values = all.flatMap(({ beam }) => [beam.parent, beam.score, beam.log_probability, Number(beam.finished)]);
  return createTable("beam steps", labels, values);
}
