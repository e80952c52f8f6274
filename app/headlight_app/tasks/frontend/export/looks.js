// The export of a caption: the shaded picture once for each word, and the weight of each patch.

import { addWords, LABEL_SIZE, LINE_HEIGHT, PRINT_COLOURS } from "../../../ui/frontend/charts/figure_text.js";
import { addPanels, beginFigure } from "../../../ui/frontend/charts/shapes.js";
import { inlineText } from "../../../ui/frontend/dom/dom.js";
import { createTable, numbered } from "../../../ui/frontend/export/page_export.js";

/** @import { AlignmentWeights, Box, Figure, Patches, ShownDrawing } from "../types.js" */
/** @typedef {{ text: string, png: string }} Look a word, and the picture shaded by its weights */

const SIDE = 24; // maximal millimetres of a picture

/** @param {Look[]} words @param {Patches} patches @param {AlignmentWeights} weights @returns {ShownDrawing} */
export function exportedLooks(words, patches, weights) {
  const { rows, columns, first_token: first } = patches;
  const places = Array.from({ length: rows * columns }, (_, patch) => patch);
  const labels = {
    word: numbered(words),
    patch: places.map((patch) => `row ${Math.floor(patch / columns)}, column ${patch % columns}`),
  };
  const values = words.flatMap((_, query) => places.map((patch) => weights.at(query, first + patch)));
  return {
    name: "describe",
    shown: `where each word looked, ${weights.title}, on a square-root scale; in each picture the largest weight is fully bright`,
    draw: (width, heading) => {
      const { figure, y } = beginFigure(width, heading);
      const panels = words.map((word) => (/** @type {Box} */ box) => addLook(figure, word, rows / columns, box));
      return { figure, y: addPanels(figure, y, panels, width > 120 ? 6 : 3) };
    },
    tables: { "Where each word looked": createTable("describe weights", labels, values) },
  };
}

/** @param {Figure} figure @param {Look} look @param {number} ratio of height to width @param {Box} box */
function addLook(figure, { text, png }, ratio, box) {
  const width = Math.min(box.width, SIDE, SIDE / ratio);
  const [x, height] = [box.x + (box.width - width) / 2, width * ratio];
  figure.shapes.push({ kind: "image", x, y: box.y, rotation: 0, left: 0, top: 0, width, height, png });
  figure.shapes.push({ kind: "rectangle", x, y: box.y, width, height, stroke: PRINT_COLOURS.line, stroke_width: 0.15 });
  const base = box.y + height + LABEL_SIZE * 1.2;
  addWords(figure, inlineText(text), box.x + box.width / 2, base, { anchor: "middle", room: box.width, bold: true });
  return box.y + height + LABEL_SIZE * LINE_HEIGHT;
}
