// The selected heads as a figure: a map, lines, the shaded text, a table, the plane, or the image.

import { HEAD_COLOURS, hexColour, NEGATIVE_COLOUR, tint } from "../../../ui/frontend/charts/colours.ts";
import type { TokenColumn } from "../../../ui/frontend/charts/connections.ts";
import { addConnections, layoutConnections } from "../../../ui/frontend/charts/connections.ts";
import { addLegend } from "../../../ui/frontend/charts/figure_charts.ts";
import { addTable } from "../../../ui/frontend/charts/figure_table.ts";
import {
  addLines,
  beginSheet,
  LABEL_SIZE,
  PRINT_COLOURS,
  PRINT_SHEET,
  wrapText,
} from "../../../ui/frontend/charts/figure_text.ts";
import { addTokens } from "../../../ui/frontend/charts/figure_tokens.ts";
import { addColourScale, addDrawing, addHeatmap, beginFigure, MARGIN } from "../../../ui/frontend/charts/shapes.ts";
import { inlineText } from "../../../ui/frontend/dom/dom.ts";
import { formatCount } from "../../../ui/frontend/dom/numbers.ts";
import { table } from "../../../ui/frontend/dom/table.ts";
import { formatBrief } from "../../../ui/frontend/heads/readout.ts";
import { attentionLines, lineHeads } from "../../../ui/frontend/plots/attention_lines.ts";
import { formatCellNumber } from "../../../ui/frontend/plots/number_table.ts";
import { addPlane } from "../../../ui/frontend/plots/query_key_plot.ts";
import { textShades } from "../../../ui/frontend/plots/shaded_text.ts";
import { beyondEnd } from "../../../ui/frontend/state/colour_range.ts";
import { magnitude, matrixCodes, SHOWN, stateAt, valueAt } from "../../../ui/frontend/state/head_matrix.ts";
import type { Box, Figure, Found, HeadMatrix, Page, QkProjectionAnswer } from "../types.ts";

const MOST_CELLS = 1_024; // of a table
const STRONGEST = 0.7; // opacity of a colour beneath a number
const PLANE = 0.7; // height of the plane, relative to its width
const NARROWEST_PLANE = 340; // pixels of its width before scaling, so that its labels fit side by side

/**
 * The content of a figure of heads: their matrix, their names, the highlighted rows (none: all rows alike), and the
 * plane or the image if the plot needs it.
 */
interface ShownHeads {
  page: Page;
  matrix: HeadMatrix;
  heads: string[];
  locked: number[];
  plane?: Found<QkProjectionAnswer>;
  image?: HTMLCanvasElement;
}
type AddPicture = (figure: Figure, shown: ShownHeads, box: Box) => number; // gives the lower end

const PICTURES: Readonly<Record<string, AddPicture>> = table({
  heatmap: addMap,
  lines: addAttentionLines,
  text: addText,
  table: addNumbers,
  qk_projection: addPlanePicture,
  overlay: addImage,
  sound: addImage,
});

export function drawHeads(
  plot: string,
  shown: ShownHeads,
  width: number,
  title: string,
): { figure: Figure; y: number } {
  const { figure, y } = beginFigure(width, title, shown.matrix.signed);
  const box = { x: MARGIN, y, width: width - 2 * MARGIN };
  const named =
    plot === "lines" && shown.heads.length > 1 ? [] : wrapText(headsTitle(shown), LABEL_SIZE, box.width, true);
  return { figure, y: PICTURES[plot](figure, shown, { ...box, y: addLines(figure, named, box.x, y, { bold: true }) }) };
}

/** The names of the heads, for several heads after the rule that combines them. */
function headsTitle({ matrix, heads }: ShownHeads) {
  const rule = matrix.rules.find((each) => COMBINED.test(each));
  return rule ? `${rule[0].toUpperCase()}${rule.slice(1)}: ${heads.join(", ")}` : heads.join(", ");
}

const COMBINED = /^(mean|largest) of \d+ heads$/;

/** The rules of a plot. */
export function rulesOf(plot: string, matrix: HeadMatrix) {
  const rules = matrix.rules.filter((rule) => plot !== "lines" || !COMBINED.test(rule)); // lines show heads separately
  return matrix.fitted ? [...rules, matrix.fitted.description] : rules;
}

function addMap(figure: Figure, { matrix }: ShownHeads, box: Box): number {
  const { rows, columns, signed } = matrix;
  const axes = { down: "query", across: "key" };
  const map = { rows: rows.labels, columns: columns.labels, axes, codes: matrixCodes(matrix), signed };
  return addColourScale(figure, scaleOf(matrix), box.x, addHeatmap(figure, map, box));
}

function scaleOf(matrix: HeadMatrix) {
  const words = matrix.scale === "linear" ? (matrix.signed ? "white at zero" : "linear scale") : "square-root scale";
  const [low, high] = [formatBrief(matrix, matrix.low), formatBrief(matrix, matrix.high)];
  return { low, high: `${high}${beyondEnd(matrix.fitted)}`, words };
}

function addAttentionLines(figure: Figure, { matrix, heads, locked }: ShownHeads, box: Box): number {
  const sides: [TokenColumn, TokenColumn] = [
    { title: "query", names: matrix.rows.labels, hot: locked },
    { title: "key", names: matrix.columns.labels },
  ];
  const step = Math.min(Math.max(150 / Math.max(...sides.map(({ names }) => names.length)), 1.5), 4.2);
  const layout = layoutConnections(sides, box, { step, size: Math.min(LABEL_SIZE * 1.1, step * 0.8) });
  const chosen = locked.length ? (row: number) => locked.includes(row) : null;
  const y = addConnections(figure, layout, sides, attentionLines(matrix, chosen, figure.look.beam));
  if (heads.length < 2) return y;
  const named = lineHeads(matrix).map((_, place) => ({
    name: heads[place],
    stroke: HEAD_COLOURS[place % HEAD_COLOURS.length],
  }));
  return addLegend(figure, named, { ...box, y });
}

function addText(figure: Figure, { page, matrix }: ShownHeads, box: Box): number {
  const { rows, sums, shares } = textShades(page, matrix);
  const asked = rows.map((row) => `“${inlineText(matrix.rows.labels[row])}”`).join(", ");
  const chips = matrix.columns.labels.map((text, column) => {
    const colour = matrix.signed && sums[column] < 0 ? NEGATIVE_COLOUR : PRINT_COLOURS.beam;
    const fill = hexColour(tint(colour, STRONGEST * shares[column]));
    return { text, beneath: [Number.isNaN(sums[column]) ? "–" : formatCellNumber(matrix, sums[column])], fill };
  });
  const y = addLines(figure, wrapText(`What ${asked} looks at`, LABEL_SIZE, box.width), box.x, box.y);
  return addTokens(figure, chips, { ...box, y });
}

function addNumbers(figure: Figure, { matrix }: ShownHeads, box: Box): number {
  const { rows, columns } = matrix;
  const count = rows.labels.length * columns.labels.length;
  if (count > MOST_CELLS)
    throw new Error(`A table of ${formatCount(count)} numbers is too large to print. Zoom in, or save the numbers.`);
  const cell = (row: number, column: number) => {
    if (stateAt(matrix, row, column) !== SHOWN) return undefined;
    const number = valueAt(matrix, row, column);
    const colour = matrix.signed && number < 0 ? NEGATIVE_COLOUR : PRINT_COLOURS.beam;
    const fill = tint(colour, STRONGEST * Math.sqrt(magnitude(matrix, number)));
    return { lines: [formatCellNumber(matrix, number)], fill };
  };
  const printed = rows.labels.map((label, row) => ({
    label,
    cells: columns.labels.map((_, column) => cell(row, column)),
  }));
  return addTable(figure, { columns: columns.labels, rows: printed }, box);
}

function addPlanePicture(figure: Figure, { page, matrix, plane }: ShownHeads, box: Box): number {
  if (!plane) return box.y;
  const width = Math.max((box.width / LABEL_SIZE) * PRINT_SHEET.size, NARROWEST_PLANE);
  const sheet = { ...beginSheet(width, "", PRINT_SHEET), height: width * PLANE };
  addPlane(sheet, page, plane, matrix);
  return addDrawing(figure, sheet, box);
}

function addImage(figure: Figure, { image }: ShownHeads, box: Box): number {
  if (!image?.width) return box.y;
  const width = Math.min(box.width, (image.clientWidth / PRINT_SHEET.size) * LABEL_SIZE * 1.5);
  const height = (width * image.height) / image.width;
  const png = image.toDataURL("image/png").split(",")[1];
  figure.shapes.push({ kind: "image", x: box.x, y: box.y + 1, rotation: 0, left: 0, top: 0, width, height, png });
  return box.y + height + 2;
}
