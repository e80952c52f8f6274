// An answer aligned with its text, to be exported: lines between two columns of tokens, the same as a map, and the numbers.

import {
  addLabel,
  addLines,
  addWords,
  LABEL_SIZE,
  longestLabel,
  PRINT_COLOURS,
  textWidth,
} from "../../../ui/frontend/charts/figure_text.js";
import { addColourScale, addHeatmap, addPanels, beginFigure, MARGIN } from "../../../ui/frontend/charts/shapes.js";
import { inlineText } from "../../../ui/frontend/dom/dom.js";
import { numbered } from "../../../ui/frontend/export/page_export.js";
import { encodeWeight } from "../../../ui/frontend/weight_code.js";

/** @import { Box, Figure, ShownDrawing } from "../../../ui/frontend/export/types.js" */
/** @import { Alignment, AlignmentWeights } from "../types.js" */

const MOST_LINES = 40; // tokens of a side: as on the screen, more are on the map alone
const FAINTEST = 0.03; // weight of a line
const STEP = 4.6; // millimetres from token to token
const NOTE_GAP = 1.2; // between a token and what there is to say of it

/** @param {string} task @param {Alignment} alignment @param {AlignmentWeights} weights @returns {ShownDrawing} */
export function exportedAlignment(task, alignment, weights) {
  const { inputs, outputs } = alignment;
  const values = Float32Array.from({ length: outputs.length * inputs.length }, (_, cell) =>
    weights.at(outputs[Math.floor(cell / inputs.length)].query, cell % inputs.length),
  );
  const labels = [numbered(outputs), numbered(inputs)];
  return {
    name: `${task}-alignment`,
    shown: `attention weights from each token of the answer to what was read, ${weights.title}`,
    draw: (width, heading) => drawAlignment(width, heading, alignment, values),
    tables: { "Alignment weights": { name: `${task} alignment`, axes: ["answer", "read"], labels, values } },
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
    panels.unshift((box) => addConnections(figure, { inputs, outputs }, values, box));
  const y = addPanels(figure, top, panels, width > 120 ? panels.length : 1);
  return { figure, y: addColourScale(figure, { low: "0", high: "1", words: "square-root scale" }, MARGIN, y) };
}

/** The source at the left, the answer at the right; gives their lower end.
 * @param {Figure} figure @param {Pick<Alignment, "inputs" | "outputs">} sides @param {Float32Array} values @param {Box} box */
function addConnections(figure, { inputs, outputs }, values, box) {
  const side = (/** @type {string[]} */ texts) => Math.min(longestLabel(texts, LABEL_SIZE) + 1.5, box.width * 0.34);
  const named = outputs.map(({ text, note }) => (note ? `${text} ${note}` : text));
  const left = box.x + side(inputs.map(({ text }) => text));
  const right = box.x + box.width - side(named) - NOTE_GAP;
  const first = addLines(figure, ["read"], box.x, box.y, { fill: PRINT_COLOURS.quiet });
  addLines(figure, ["answer"], right + 0.9, box.y, { fill: PRINT_COLOURS.quiet });
  const at = (/** @type {number} */ place) => first + (place + 0.5) * STEP;
  const middle = (left + right) / 2;
  values.forEach((weight, cell) => {
    const [output, input] = [Math.floor(cell / inputs.length), cell % inputs.length];
    if (weight < FAINTEST) return;
    figure.shapes.push({
      kind: "curve",
      points: [left, at(input), middle, at(input), middle, at(output), right, at(output)],
      stroke: PRINT_COLOURS.beam,
      stroke_width: 0.15 + 0.9 * weight,
      opacity: Math.min(weight, 1),
      dashed: false,
    });
  });
  const base = LABEL_SIZE * 0.35;
  inputs.forEach(({ text }, place) => {
    addLabel(figure, text, left - 0.9, at(place) + base, { anchor: "end", room: left - box.x - 0.9 });
  });
  outputs.forEach(({ text, note, wrong: bold }, place) => {
    const [x, y] = [right + 0.9, at(place) + base];
    addLabel(figure, text, x, y, { anchor: "start", room: box.x + box.width - x, bold });
    const beside = x + textWidth(inlineText(text), LABEL_SIZE, bold) + NOTE_GAP;
    const room = box.x + box.width - beside;
    if (note && room > 0) addWords(figure, note, beside, y, { anchor: "start", room, fill: PRINT_COLOURS.quiet });
  });
  return at(Math.max(inputs.length, outputs.length) - 0.5);
}
