// The export of an alignment: lines between two columns of tokens, a map, and the numbers.

import { addConnections, layoutConnections } from "../../../ui/frontend/charts/connections.js";
import { LABEL_SIZE, PRINT_COLOURS } from "../../../ui/frontend/charts/figure_text.js";
import { addColourScale, addHeatmap, addPanels, beginFigure, MARGIN } from "../../../ui/frontend/charts/shapes.js";
import { createTable, numbered } from "../../../ui/frontend/export/page_export.js";
import { encodeWeight } from "../../../ui/frontend/weight_code.js";

/** @import { TokenColumn } from "../../../ui/frontend/charts/connections.js" */
/** @import { Alignment, AlignmentWeights, Box, Figure, ShownDrawing } from "../types.js" */

const MOST_LINES = 40; // tokens on each side; as on the screen, larger alignments are only a map
const FAINTEST = 0.03; // weight of a line
const STEP = 4.6; // millimetres from token to token

/** @param {string} task @param {Alignment} alignment @param {AlignmentWeights} weights @returns {ShownDrawing} */
export function exportedAlignment(task, alignment, weights) {
  const { inputs, outputs } = alignment;
  const values = Float32Array.from({ length: outputs.length * inputs.length }, (_, cell) =>
    weights.at(outputs[Math.floor(cell / inputs.length)].query, cell % inputs.length),
  );
  const labels = { answer: numbered(outputs), read: numbered(inputs) };
  return {
    name: `${task}-alignment`,
    shown: `attention weights from each token of the answer to what was read, ${weights.title}`,
    draw: (width, heading) => drawAlignment(width, heading, alignment, values),
    tables: { "Alignment weights": createTable(`${task} alignment`, labels, values) },
  };
}

/** @param {number} width @param {string} heading @param {Alignment} alignment @param {Float32Array} values */
function drawAlignment(width, heading, { inputs, outputs }, values) {
  const { figure, y: top } = beginFigure(width, heading);
  const codes = Uint8Array.from(values, encodeWeight);
  const axes = { down: "answer", across: "read" };
  const map = { rows: outputs.map(({ text }) => text), columns: inputs.map(({ text }) => text), axes, codes };
  const panels = [(/** @type {Box} */ box) => addHeatmap(figure, map, box)];
  if (Math.max(inputs.length, outputs.length) <= MOST_LINES)
    panels.unshift((box) => addLines(figure, { inputs, outputs }, values, box));
  const y = addPanels(figure, top, panels, width > 120 ? panels.length : 1);
  return { figure, y: addColourScale(figure, { low: "0", high: "1", words: "square-root scale" }, MARGIN, y) };
}

/**
 * The source at the left, the answer at the right. Returns the bottom edge.
 * @param {Figure} figure @param {Pick<Alignment, "inputs" | "outputs">} sides @param {Float32Array} values @param {Box} box
 */
function addLines(figure, { inputs, outputs }, values, box) {
  /** @type {[TokenColumn, TokenColumn]} */
  const sides = [
    { title: "read", names: inputs.map(({ text }) => text) },
    { title: "answer", names: outputs.map(({ text, note }) => [text, note].filter(Boolean).join(" ")) },
  ];
  const lines = Array.from(values, (strength, cell) => ({
    row: cell % inputs.length,
    column: Math.floor(cell / inputs.length),
    strength,
    stroke: PRINT_COLOURS.beam,
    opacity: Math.min(strength, 1),
    dashed: false,
  }));
  const layout = layoutConnections(sides, box, { step: STEP, size: LABEL_SIZE });
  return addConnections(
    figure,
    layout,
    sides,
    lines.filter(({ strength }) => strength >= FAINTEST),
  );
}
