// Views as figures for print: matrices, lines, bars, changes and flows.

import { formatSigned } from "../../charts/charts.js";
import { colour, PURPLE_ORANGE, tint } from "../../charts/colours.js";
import { addBars, addLineChart } from "../../charts/figure_charts.js";
import { addTable } from "../../charts/figure_table.js";
import { addColourScale, addPanels, beginFigure, colourNames, titled } from "../../charts/shapes.js";
import { table } from "../../dom/table.js";
import { barNumber } from "../bars.js";
import { addFlowDrawing } from "../flow/flow.js";
import { lineChart } from "../lines.js";
import { cellText, formatRowNumber, groupColour, scalesOf, scaleWords, shareColour } from "../matrix.js";
import { largestSize } from "../numbers.js";

/** @import { Box, Figure, ShownFigure } from "../../types.js" */
/** @import { BarsView, ChangesView, FlowView, LinesView, MatrixView, View, ViewRow } from "../types.js" */
/** @typedef {MatrixView | LinesView | BarsView | ChangesView | FlowView} Drawn */
/** @typedef {(figure: Figure) => (box: Box) => number} Panel returns its bottom edge */

const WIDEST_CHART = 120; // millimetres
const GROUP_SHADE = 0.28; // of a group's colour in white

/** @type {{ [Kind in Drawn["kind"]]: (figure: Figure, view: Extract<Drawn, { kind: Kind }>, box: Box) => number }} */
const FIGURES = table({
  matrix: addMatrix,
  lines: addLines,
  bars: addViewBars,
  changes: addChanges,
  flow: addFlowDrawing,
});

/** The views of some rows below each other, those that can be drawn. @param {ViewRow[]} rows @returns {ShownFigure["draw"]} */
export function drawViews(rows) {
  const views = rows.flatMap((row) => row.views).filter(isDrawn);
  const isSigned = views.some((view) => view.kind === "matrix" && view.colours === "signed");
  return drawPanels(views.map(panelOf), isSigned);
}

/** @param {Panel[]} panels @param {boolean} signed @returns {ShownFigure["draw"]} */
export function drawPanels(panels, signed) {
  return (width, title) => {
    const { figure, y } = beginFigure(width, title, signed);
    const drawn = panels.map((panel) => panel(figure));
    return { figure, y: addPanels(figure, y, drawn, 1) };
  };
}

/** Whether a view has a figure. @param {View} view @returns {view is Drawn} */
export function isDrawn(view) {
  return view.kind in FIGURES;
}

/** @param {Drawn} view @returns {Panel} */
function panelOf(view) {
  const add = /** @type {(figure: Figure, view: Drawn, box: Box) => number} */ (FIGURES[view.kind]);
  return (figure) => {
    const draw = (/** @type {Box} */ box) => add(figure, view, box);
    return view.title ? titled(figure, view.title, draw) : draw;
  };
}

/** @param {Figure} figure @param {MatrixView} view @param {Box} box */
function addMatrix(figure, view, box) {
  const scales = scalesOf(view);
  const columns = [...Object.keys(view.row_numbers), ...view.values[0].map((_, column) => view.columns[column] ?? "")];
  const rows = view.values.map((numbers, row) => ({
    label: view.rows[row] ?? "",
    cells: [
      ...Object.values(view.row_numbers).map((beside) => ({ lines: [formatRowNumber(beside[row])] })),
      ...numbers.map((_, column) => printedCell(view, row, column, scales[row])),
    ],
  }));
  const y = addTable(figure, { columns, rows }, box) + 0.8;
  if (view.colours === "none" || view.colours === "groups") return y;
  const { signed, ...ends } = scaleWords(view, scales[0]);
  return addColourScale(figure, { ...ends, palette: colourNames(signed) }, box.x, y);
}

/** @param {MatrixView} view @param {number} row @param {number} column @param {number} scale */
function printedCell(view, row, column, scale) {
  const value = Number(view.values[row][column]);
  const lines = [
    ...cellText(view, row, column, scale).split("\n"),
    ...(view.cell_notes[row]?.slice(column, column + 1) ?? []),
  ];
  if (!Number.isFinite(value) || view.colours === "none" || view.crossed?.[row][column]) return { lines };
  if (view.colours === "groups") return { lines, fill: tint(groupColour(value), GROUP_SHADE) };
  const bold = view.marked.some(([markedRow, markedColumn]) => markedRow === row && markedColumn === column);
  if (view.colours === "shares") return { lines, fill: shareColour(value), bold };
  return { lines, fill: colour(0.5 + value / scale / 2, PURPLE_ORANGE), bold };
}

/** @param {Figure} figure @param {LinesView} view @param {Box} box */
function addLines(figure, view, box) {
  return addLineChart(figure, lineChart(view), { ...box, width: Math.min(box.width, WIDEST_CHART) });
}

/** @param {Figure} figure @param {ChangesView} view @param {Box} box */
function addChanges(figure, { parts, start, end }, box) {
  const lines = [...(start ? [start] : []), ...parts, ...(end ? [end] : [])];
  const rows = lines.map(([label, value]) => ({ label, values: [Number(value)] }));
  const changes = parts.map(([, number]) => Number(number));
  const ends = { least: Math.min(0, ...changes), most: Math.max(0, ...changes) };
  return addBars(figure, { rows, kinds: [""], ...ends, format: formatSigned, missing: "" }, box);
}

/** @param {Figure} figure @param {BarsView} view @param {Box} box */
function addViewBars(figure, view, box) {
  const { labels, series, high } = view;
  const kinds = Object.keys(series);
  const rows = labels.map((label, place) => ({ label, values: kinds.map((kind) => Number(series[kind][place])) }));
  const values = rows.flatMap((row) => row.values);
  const ends = { least: Math.min(0, ...values), most: high ?? Math.max(0, largestSize(values)) };
  const format = (/** @type {number} */ number) => barNumber(view, number);
  return addBars(figure, { rows, kinds, ...ends, format, missing: "" }, box);
}
