// Queries and keys of one head in one plane: the nearer in direction, the higher the score.

import { addWords, fitText, textWidth } from "../charts/figure_text.ts";
import { paintFigure } from "../charts/paint_shapes.ts";
import { inlineText } from "../dom/dom.ts";
import { remembered } from "../dom/memory.ts";
import { formatPercent } from "../dom/numbers.ts";
import { magnitude, reportTrouble, SHOWN, stateAt, valueAt } from "../state/head_matrix.ts";
import { currentGroup, selectedHeads } from "../state/head_selection.ts";
import { activeQueries } from "../state/token_selection.ts";
import type { Figure, Found, HeadMatrix, Page, Plot, QkProjectionAnswer } from "../types.ts";
import { currentStyle, plotHeight } from "./measurements.ts";

const KEY_COLOUR = "#3b8fd0";
const HIT_RADIUS = 16; // pixels within which the pointer finds a point
const NAME_SIZE = 0.9; // in font sizes
const MOST_NAME = 90; // pixels of a name
const LINE_STEP = 6; // pixels between the points of a line that names must not overlap

type PlotPoint = { side: "query" | "key"; place: number; name: string; x: number; y: number };
type PointsLayout = { all: PlotPoint[]; x0: number; y0: number };

const memory = remembered(() => ({ layout: null as PointsLayout | null }));

export const QUERY_KEY_PLOT: Plot = { needs: "qk_projection", draw: drawQueryKeyPlot, tokenAt: pointTokenAt };

function drawQueryKeyPlot(page: Page, matrix: HeadMatrix, width: number, canvas: HTMLCanvasElement) {
  const found = page.server.get("qk_projection", planeQuery(page));
  if (found?.meta.error) return reportTrouble(page, found.meta.error);
  paintFigure(canvas, width, currentStyle(page), (figure) => {
    figure.height = Math.min(Math.max(width * 0.9, 260), plotHeight(page));
    if (found) memory(page).layout = addPlane(figure, page, found, matrix);
    return figure.height;
  });
}

/** The request for the plane of the chosen head. */
export function planeQuery(page: Page) {
  const [[layer, head]] = selectedHeads(page);
  return { attention: currentGroup(page).name, layer, head };
}

/** Draws the plane on a figure in pixels, whose height is set. Returns the positions of the points. */
export function addPlane(figure: Figure, page: Page, found: Found<QkProjectionAnswer>, matrix: HeadMatrix) {
  const layout = layoutPoints(found, matrix, figure.width, figure.height);
  addAxes(figure, found.meta.explained_variance, layout);
  addConnections(figure, page, matrix, layout);
  for (const point of layout.all) addPoint(figure, point, isActive(page, point));
  addPointNames(figure, page, layout);
  return layout;
}

/** The screen positions of all queries and keys of the matrix; both axes have the same scale. */
function layoutPoints(
  found: Found<QkProjectionAnswer>,
  matrix: HeadMatrix,
  width: number,
  height: number,
): PointsLayout {
  const { queries } = found.meta;
  const spot = (index: number) => [found.numbers[2 * index], found.numbers[2 * index + 1]];
  const all = [
    ...[...matrix.rowOf].map(([place, line]) => ({
      side: "query" as const,
      place,
      name: matrix.rows.labels[line],
      spot: spot(place),
    })),
    ...[...matrix.columnOf].map(([place, line]) => ({
      side: "key" as const,
      place,
      name: matrix.columns.labels[line],
      spot: spot(queries + place),
    })),
  ];
  const ends = [0, 1].map((axis) => {
    const values = all.map(({ spot }) => spot[axis]);
    return [Math.min(...values), Math.max(...values)];
  });
  const scale = Math.min((width - 90) / (ends[0][1] - ends[0][0] || 1), (height - 70) / (ends[1][1] - ends[1][0] || 1));
  const middle = ends.map(([low, high]) => (low + high) / 2);
  const x = (value: number) => width / 2 - 14 + (value - middle[0]) * scale;
  const y = (value: number) => height / 2 - 8 - (value - middle[1]) * scale;
  return { all: all.map(({ spot, ...point }) => ({ ...point, x: x(spot[0]), y: y(spot[1]) })), x0: x(0), y0: y(0) };
}

function addAxes(figure: Figure, shares: [number, number], { x0, y0 }: PointsLayout) {
  const { width, height, look } = figure;
  const axis = { kind: "polyline" as const, stroke: look.line, stroke_width: 1, opacity: 1, dashed: false };
  const bottom = height - 1.6 * look.size; // above the words
  figure.shapes.push({ ...axis, points: [0, y0, width, y0] }, { ...axis, points: [x0, 0, x0, bottom] });
  const words = `across ${formatPercent(shares[0])}, up ${formatPercent(shares[1])} of the variance`;
  const below = { size: NAME_SIZE * look.size, fill: look.quiet, room: width };
  addWords(figure, words, 4, height - 4, { ...below, anchor: "start" });
  addWords(figure, "● query  ■ key", width - 4, height - 4, { ...below, anchor: "end" });
}

function isActive(page: Page, { side, place }: PlotPoint) {
  return side === "query" ? activeQueries(page).includes(place) : page.state.pointer?.key === place;
}

/** Lines from the active queries to the keys that they look at. */
function addConnections({ shapes, look }: Figure, page: Page, matrix: HeadMatrix, { all }: PointsLayout) {
  const keys = all.filter(({ side }) => side === "key");
  for (const query of all.filter((point) => point.side === "query" && isActive(page, point))) {
    for (const key of keys) {
      const [row, column] = [matrix.rowOf.get(query.place) ?? 0, matrix.columnOf.get(key.place) ?? 0];
      const strength = stateAt(matrix, row, column) === SHOWN ? magnitude(matrix, valueAt(matrix, row, column)) : 0;
      if (strength < 0.01) continue;
      shapes.push({
        kind: "polyline",
        points: [query.x, query.y, key.x, key.y],
        stroke: look.beam,
        stroke_width: ((0.5 + 3 * strength) * look.size) / 12,
        opacity: Math.min(strength * 1.1, 1),
        dashed: false,
      });
    }
  }
}

function addPoint({ shapes, look }: Figure, { side, x, y }: PlotPoint, hot: boolean) {
  const radius = hot ? 6 : 4;
  const edge = { stroke: hot ? look.ink : look.paper, stroke_width: hot ? 2 : 1 };
  if (side === "query") shapes.push({ kind: "circle", x, y, radius, fill: look.beam, ...edge });
  else {
    const box = { x: x - radius + 0.5, y: y - radius + 0.5, width: 2 * radius - 1, height: 2 * radius - 1 };
    shapes.push({ kind: "rectangle", ...box, fill: KEY_COLOUR, ...edge });
  }
}

/** Names beside the points, as many as there is room for; always those of active tokens. */
function addPointNames(figure: Figure, page: Page, { all }: PointsLayout) {
  const { ink, quiet } = figure.look;
  const size = NAME_SIZE * figure.look.size;
  const taken = [...all.map(({ x, y }) => [x - 4, y - 4, x + 4, y + 4]), ...strongLines(figure)];
  for (const point of [...all].sort((one, other) => Number(isActive(page, other)) - Number(isActive(page, one)))) {
    const hot = isActive(page, point);
    const name = fitText(inlineText(point.name), size, MOST_NAME);
    const wide = textWidth(name, size, hot);
    const boxes = placesOfName(figure, point, wide);
    const box = boxes.find((one) => !taken.some((other) => overlaps(one, other))) ?? (hot ? boxes[0] : null);
    if (!box) continue;
    taken.push(box);
    const look = { size, bold: hot, fill: hot ? ink : quiet };
    addWords(figure, name, box[0] + 2, box[1] + 7 + 0.35 * size, { anchor: "start", room: wide + 1, ...look });
  }
}

/** Boxes for the name of a point: first the side away from the lines in the middle, then above and below. */
function placesOfName({ width, height }: Figure, { x, y }: PlotPoint, wide: number) {
  const sides = [x + 8, x - 8 - wide].map((start) => [start, y]);
  const left = Math.max(Math.min(x - wide / 2, width - wide), 0);
  const places = [...(x < width / 2 ? sides.reverse() : sides), [left, y - 15], [left, y + 15]];
  const boxes = places.map(([start, middle]) => [start - 2, middle - 7, start + wide + 2, middle + 7]);
  return boxes.filter((box) => box[0] >= -2 && box[1] >= 0 && box[2] <= width + 2 && box[3] <= height);
}

/** Small boxes along the lines that would cross out a name. */
function strongLines({ shapes, look }: Figure): number[][] {
  const lines = shapes.flatMap((shape) =>
    shape.kind === "polyline" && shape.stroke === look.beam && shape.opacity > 0.2 ? [shape.points] : [],
  );
  return lines.flatMap(([fromX, fromY, toX, toY]) => {
    const steps = Math.ceil(Math.hypot(toX - fromX, toY - fromY) / LINE_STEP);
    return Array.from({ length: steps }, (_, step) => {
      const [x, y] = [fromX + ((toX - fromX) * step) / steps, fromY + ((toY - fromY) * step) / steps];
      return [x - 1, y - 1, x + 1, y + 1];
    });
  });
}

/** Whether two boxes of left, top, right and bottom overlap. */
function overlaps(one: number[], other: number[]) {
  return one[0] < other[2] && one[2] > other[0] && one[1] < other[3] && one[3] > other[1];
}

function pointTokenAt(page: Page, event: MouseEvent) {
  const { layout } = memory(page);
  if (!layout) return null;
  const frame = page.view.elements.canvas.getBoundingClientRect();
  const far = ({ x, y }: PlotPoint) => Math.hypot(x - (event.clientX - frame.left), y - (event.clientY - frame.top));
  const nearest = layout.all.reduce((best, point) => (far(point) < far(best) ? point : best));
  if (far(nearest) > HIT_RADIUS) return null;
  return nearest.side === "query" ? { query: nearest.place, key: null } : { query: null, key: nearest.place };
}
