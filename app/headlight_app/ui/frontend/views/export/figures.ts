// Views as figures for print: all that show something without being used.

import { largestSize } from "../../charts/charts.ts";
import { colour, hexColour, PURPLE_ORANGE, readableInk, tint } from "../../charts/colours.ts";
import { addBars, addLineChart } from "../../charts/figure_charts.ts";
import { addTable } from "../../charts/figure_table.ts";
import {
  addLines as addTextLines,
  LABEL_SIZE,
  LINE_HEIGHT,
  PRINT_COLOURS,
  textWidth,
  wrapText,
} from "../../charts/figure_text.ts";
import { addTokens } from "../../charts/figure_tokens.ts";
import { addColourScale, addPanels, beginFigure, colourNames, GAP, MARGIN, titled } from "../../charts/shapes.ts";
import { formatNumber } from "../../dom/numbers.ts";
import { table } from "../../dom/table.ts";
import type { Box, Figure, ShownFigure } from "../../types.ts";
import { barNumber, isAlone } from "../bars.ts";
import { changeTexts, extentsOf } from "../changes.ts";
import { addFlowDrawing } from "../flow/flow.ts";
import { addDiagram } from "../graphs/diagram_figure.ts";
import { addGraphDrawing } from "../graphs/graph.ts";
import { addTreeDrawing } from "../graphs/tree.ts";
import { addHeatMap } from "../heat_map.ts";
import { addImages } from "../image.ts";
import { lineChart } from "../lines.ts";
import {
  cellText,
  formatRowNumber,
  groupColour,
  isSequential,
  rowSum,
  scalesOf,
  scaleWords,
  sequentialColour,
  withSums,
} from "../matrix.ts";
import { arrowsPlane } from "../plane/arrows.ts";
import { addMovingPoints } from "../plane/moving_points.ts";
import { addPlaneDrawing } from "../plane/plane.ts";
import { pointsPlane } from "../plane/points.ts";
import { addSpans } from "../spans.ts";
import { addStrips } from "../strips.ts";
import { addAlignment } from "../tokens/alignment.ts";
import { colourOfGroup, printedGroup } from "../tokens/tokens.ts";
import type {
  BarsView,
  ChangesView,
  ChoiceView,
  FileView,
  InputView,
  LinesView,
  MatrixView,
  SoundView,
  TableView,
  TokensView,
  VerdictView,
  View,
  ViewRow,
} from "../types.ts";
import { addClaims, addEquations, addVerdict } from "./figure_words.ts";

/** Paper shows neither what is pressed or typed, nor a sound; a file is saved by its own button. */
type Used = ChoiceView | InputView | SoundView | FileView;
export type Drawn = Exclude<View, Used>;
type DrawnRow = Pick<ViewRow, "views"> & Partial<ViewRow>;
type Part = { view: Drawn; title?: string; text?: string }; // with those of its row, if it is the first there

const WIDEST_CHART = 120; // millimetres
const LEAST_PANEL = 60; // millimetres of one beside others
const GROUP_SHADE = 0.28; // of a group's colour in white

const FIGURES: { [Kind in Drawn["kind"]]: (figure: Figure, view: Extract<Drawn, { kind: Kind }>, box: Box) => number } =
  table({
    matrix: addMatrix,
    heat_map: addHeatMap,
    lines: addLines,
    bars: addViewBars,
    changes: addChanges,
    flow: addFlowDrawing,
    tokens: addViewTokens,
    table: addViewTable,
    tree: addTreeDrawing,
    alignment: addAlignment,
    spans: addSpans,
    strips: (figure, view, box) => addStrips(figure, view, { ...box, y: addGroups(figure, view.group_titles, box) }),
    image: addImages,
    moving_points: addMovingPoints,
    arrows: (figure, view, box) => addPlaneDrawing(figure, arrowsPlane(view), box),
    points: (figure, view, box) => addPlaneDrawing(figure, pointsPlane(view), box),
    graph: addGraphDrawing,
    model_diagram: addDiagram,
    claims: addClaims,
    equations: addEquations,
    verdict: addVerdict,
  });

/** The views of some rows, those that can be drawn; their verdicts are said in the caption of the figure. */
export function drawViews(rows: DrawnRow[]): ShownFigure["draw"] {
  return drawParts(partsOf(rows));
}

/** @param across most of them side by side, if there is room; one of words is as wide as the figure */
export function drawPanels(views: Drawn[], across: number = 1): ShownFigure["draw"] {
  return drawParts(
    views.map((view) => ({ view })),
    across,
  );
}

/** The views of some rows below what a figure shows already. Returns the bottom edge. */
export function addViews(figure: Figure, y: number, rows: DrawnRow[], across: number = 1) {
  return addParts(figure, y, partsOf(rows), across);
}

function partsOf(rows: DrawnRow[]): Part[] {
  return rows.flatMap(({ title, text, views }) =>
    withSums(views)
      .filter(isDrawn)
      .map((view, place) => (place ? { view } : { view, title, text })),
  );
}

function drawParts(parts: Part[], across: number = 1): ShownFigure["draw"] {
  return (width, title) => {
    const { figure, y } = beginFigure(width, title);
    return { figure, y: addParts(figure, y, parts, across) };
  };
}

function addParts(figure: Figure, y: number, parts: Part[], across: number) {
  const most = Math.max(Math.min(across, Math.floor((figure.width - 2 * MARGIN + GAP) / (LEAST_PANEL + GAP))), 1);
  const runs: Part[][] = [];
  for (const part of parts) {
    const run = runs.at(-1);
    if (run && !isOfWords(part) && !isOfWords(run[0])) run.push(part);
    else runs.push([part]);
  }
  const addRun = (from: number, run: Part[]) => {
    const drawn = run.map((part) => panelOf(figure, part));
    return addPanels(figure, from, drawn, most);
  };
  return runs.reduce(addRun, y);
}

function isOfWords({ view: { kind } }: Part) {
  return kind === "claims" || kind === "equations" || kind === "verdict";
}

/** Whether a view has a figure. */
export function hasFigure(view: View): view is Drawn {
  return view.kind in FIGURES;
}

/** Whether a view is drawn where verdicts are said in the caption. */
export function isDrawn(view: View): view is Exclude<Drawn, VerdictView> {
  return hasFigure(view) && view.kind !== "verdict";
}

/** A view without a title has that of its row, and the text below it. */
function panelOf(figure: Figure, { view, title = "", text = "" }: Part): (box: Box) => number {
  const add = FIGURES[view.kind] as (figure: Figure, view: Drawn, box: Box) => number;
  const draw = (box: Box) => add(figure, view, box);
  if (view.title) return titled(figure, view.title, draw);
  const lines = (width: number) => (text ? wrapText(text, LABEL_SIZE, width) : []);
  const withText = (box: Box) => draw({ ...box, y: addTextLines(figure, lines(box.width), box.x, box.y) });
  return title ? titled(figure, title, withText) : withText;
}

function addMatrix(figure: Figure, view: MatrixView, box: Box) {
  if (!view.values.length) return box.y;
  const scales = scalesOf(view);
  const columns = [
    ...Object.keys(view.row_numbers),
    ...view.values[0].map((_, column) => view.columns[column] ?? ""),
    ...(view.row_sums ? ["sum"] : []),
  ];
  const rows = view.values.map((numbers, row) => ({
    label: view.rows[row] ?? "",
    cells: [
      ...Object.values(view.row_numbers).map((beside) => ({ lines: [formatRowNumber(beside[row])] })),
      ...numbers.map((_, column) => printedCell(view, row, column, scales[row])),
      ...(view.row_sums ? [{ lines: [rowSum(view, row)], bold: true }] : []),
    ],
  }));
  const y = addTable(figure, { columns, rows }, box) + 0.8;
  if (view.colours === "none" || view.colours === "groups") return y;
  const { signed, ...ends } = scaleWords(view, scales[0]);
  return addColourScale(figure, { ...ends, palette: colourNames(signed) }, box.x, y, box.width);
}

function printedCell(view: MatrixView, row: number, column: number, scale: number) {
  const value = Number(view.values[row][column]);
  const lines = [
    ...cellText(view, row, column, scale).split("\n"),
    ...(view.cell_notes[row]?.slice(column, column + 1) ?? []),
  ];
  if (!Number.isFinite(value) || view.colours === "none" || view.crossed?.[row][column]) return { lines };
  if (view.colours === "groups") return { lines, fill: tint(groupColour(value), GROUP_SHADE) };
  const bold = view.marked.some(([markedRow, markedColumn]) => markedRow === row && markedColumn === column);
  if (isSequential(view.colours)) return { lines, fill: sequentialColour(view.colours, value, scale), bold };
  return { lines, fill: colour(0.5 + value / scale / 2, PURPLE_ORANGE), bold };
}

function addLines(figure: Figure, view: LinesView, box: Box) {
  return addLineChart(figure, lineChart(view), { ...box, width: Math.min(box.width, WIDEST_CHART) });
}

function addChanges(figure: Figure, view: ChangesView, box: Box) {
  const { parts, start, end } = view;
  const extents = extentsOf(view);
  const texts = changeTexts(view);
  const total = (total: ChangesView["start"], text: string) =>
    total ? [{ label: total[0], values: [null], texts: [text] }] : [];
  const rows = parts.map(([label], place) => {
    const [from, to] = extents[place];
    return { label, values: [to], starts: [from], texts: [texts.parts[place]] };
  });
  const ends = { least: Math.min(...extents.flat()), most: Math.max(...extents.flat()) };
  return addBars(
    figure,
    { rows: [...total(start, texts.start), ...rows, ...total(end, texts.end)], kinds: [""], ...ends },
    box,
  );
}

function addViewBars(figure: Figure, view: BarsView, box: Box) {
  if (isAlone(view)) {
    const [number] = Object.values(view.series)[0].map(Number);
    return addTextLines(figure, [`${view.labels[0]}   ${barNumber(view, number)}`], box.x, box.y);
  }
  const { labels, series, high, missing } = view;
  const kinds = Object.keys(series);
  const known = (number: number) => (Number.isNaN(number) ? null : number);
  const rows = labels.map((label, place) => ({
    label,
    values: kinds.map((kind) => known(Number(series[kind][place]))),
  }));
  const values = rows.flatMap((row) => row.values).filter((value) => value !== null);
  const ends = { least: Math.min(0, ...values), most: high ?? Math.max(0, largestSize(values)) };
  const format = (number: number) => barNumber(view, number);
  return addBars(figure, { rows, kinds, ...ends, format, missing }, box);
}

function addViewTokens(figure: Figure, view: TokensView, box: Box) {
  const y = addGroups(figure, view.group_titles, box);
  const chips = view.tokens.map((text, index) => {
    const beneath = [view.labels[index], view.below[index]].filter((words) => words !== undefined);
    return { text, beneath, ...tokenColours(view, index) };
  });
  return addTokens(figure, chips, { ...box, y }) + 1;
}

function tokenColours({ shades, groups }: TokensView, index: number) {
  if (colourOfGroup(groups[index])) return { fill: printedGroup(groups[index]) };
  if (!shades.length) return { fill: PRINT_COLOURS.paper };
  const ground = colour(0.5 + Math.max(-1, Math.min(shades[index], 1)) / 2, PURPLE_ORANGE);
  const isDark = readableInk(ground) === "#fff";
  return { fill: hexColour(ground), ink: isDark ? PRINT_COLOURS.paper : PRINT_COLOURS.ink };
}

/** The colours of groups, and what they are. */
function addGroups(figure: Figure, titles: string[], { x: left, y, width }: Box) {
  let x = left;
  titles.forEach((title, group) => {
    const long = textWidth(title, LABEL_SIZE) + 8;
    if (x > left && x + long > left + width) [x, y] = [left, y + LABEL_SIZE * LINE_HEIGHT];
    const fill = printedGroup(group);
    figure.shapes.push({ kind: "rectangle", x, y: y + 0.8, width: 2.2, height: 2.2, fill });
    addTextLines(figure, [title], x + 3.2, y);
    x += long;
  });
  return titles.length ? y + LABEL_SIZE * LINE_HEIGHT : y;
}

/** A line for each row, wrapped. */
function addViewTable(figure: Figure, { columns, rows, digits }: TableView, { x, y, width }: Box) {
  const written = (cell: string | number) => (typeof cell === "number" ? formatNumber(cell, digits) : cell);
  const lines = rows.flatMap(([name, ...cells]) => {
    const facts = cells.map((cell, place) => [columns[place + 1], written(cell)].filter(Boolean).join(" "));
    return wrapText(`${name}   ${facts.filter(Boolean).join(", ")}`, LABEL_SIZE, width);
  });
  return addTextLines(figure, lines, x, y) + 1;
}
