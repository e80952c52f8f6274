// Queries and keys of one head in one plane: the nearer in direction, the higher the score.

import { formatPercent, hidpiContext, inlineText, truncateText } from "../dom/dom.js";
import { currentStyle, plotHeight } from "../heads/measurements.js";
import { magnitude, reportTrouble, SHOWN, stateAt, valueAt } from "../state/head_matrix.js";
import { currentGroup, selectedHeads } from "../state/head_selection.js";
import { remembered } from "../state/memory.js";
import { activeQueries } from "../state/token_selection.js";

/** @import { QkProjectionAnswer } from "../../../explore/frontend/contract.js" */
/** @import { Found, HeadMatrix, Page, Plot } from "../types.js" */

const KEY_COLOUR = "#3b8fd0";
const HIT_RADIUS = 16; // pixels within which the pointer finds a point

/** @typedef {{ side: "query" | "key", place: number, name: string, x: number, y: number }} PlotPoint */
/** @typedef {{ all: PlotPoint[], x0: number, y0: number }} PointsLayout */

const memory = remembered(() => ({ layout: /** @type {PointsLayout | null} */ (null) }));

/** @type {Plot} */
export const QUERY_KEY_PLOT = { draw: drawQueryKeyPlot, tokenAt: pointTokenAt };

/** @param {Page} page @param {HeadMatrix} matrix @param {number} width @param {HTMLCanvasElement} canvas */
function drawQueryKeyPlot(page, matrix, width, canvas) {
  const [[layer, head]] = selectedHeads(page);
  const found = page.server.get("qk_projection", { attention: currentGroup(page).name, layer, head });
  if (found?.meta.error) return reportTrouble(page, found.meta.error);
  const height = Math.min(Math.max(width * 0.9, 260), plotHeight(page));
  const context = hidpiContext(canvas, width, height);
  if (!found) return;
  const layout = layoutPoints(found, matrix, width, height);
  memory(page).layout = layout;
  drawAxes(context, page, found.meta.explained_variance, layout, width, height);
  drawConnections(context, page, matrix, layout);
  for (const point of layout.all) drawPoint(context, page, point);
  drawPointLabels(context, page, layout, width);
}

/**
 * Where every query and key of the matrix lies on the screen; both axes have the same scale.
 * @param {Found<QkProjectionAnswer>} found @param {HeadMatrix} matrix @param {number} width @param {number} height
 * @returns {PointsLayout}
 */
function layoutPoints(found, matrix, width, height) {
  const { queries } = found.meta;
  /** @param {number} index */
  const spot = (index) => [found.numbers[2 * index], found.numbers[2 * index + 1]];
  const all = [
    ...[...matrix.rowOf].map(([place, line]) => ({
      side: /** @type {const} */ ("query"),
      place,
      name: matrix.rows.labels[line],
      spot: spot(place),
    })),
    ...[...matrix.columnOf].map(([place, line]) => ({
      side: /** @type {const} */ ("key"),
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
  /** @param {number} value */
  const x = (value) => width / 2 - 14 + (value - middle[0]) * scale;
  /** @param {number} value */
  const y = (value) => height / 2 - 8 - (value - middle[1]) * scale;
  return { all: all.map(({ spot, ...point }) => ({ ...point, x: x(spot[0]), y: y(spot[1]) })), x0: x(0), y0: y(0) };
}

/**
 * @param {CanvasRenderingContext2D} context @param {Page} page @param {[number, number]} shares
 * @param {PointsLayout} options @param {number} width @param {number} height
 */
function drawAxes(context, page, shares, { x0, y0 }, width, height) {
  context.strokeStyle = currentStyle(page).line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, y0);
  context.lineTo(width, y0);
  context.moveTo(x0, 0);
  context.lineTo(x0, height);
  context.stroke();
  context.font = `${11 * currentStyle(page).type}px ${currentStyle(page).font}`;
  context.fillStyle = currentStyle(page).quiet;
  context.textBaseline = "bottom";
  context.textAlign = "left";
  context.fillText(`across ${formatPercent(shares[0])}, up ${formatPercent(shares[1])} of the variance`, 4, height - 2);
  context.textAlign = "right";
  context.fillText("● query  ■ key", width - 4, height - 2);
}

/** @param {Page} page @param {PlotPoint} options */
function isActive(page, { side, place }) {
  return side === "query" ? activeQueries(page).includes(place) : page.state.pointer?.key === place;
}

/**
 * From the queries at hand to the keys that they look at.
 * @param {CanvasRenderingContext2D} context @param {Page} page @param {HeadMatrix} matrix @param {PointsLayout} layout
 */
function drawConnections(context, page, matrix, { all }) {
  const keys = all.filter(({ side }) => side === "key");
  context.strokeStyle = currentStyle(page).beam;
  for (const query of all.filter((point) => point.side === "query" && isActive(page, point))) {
    for (const key of keys) {
      const [row, column] = [matrix.rowOf.get(query.place) ?? 0, matrix.columnOf.get(key.place) ?? 0];
      const strength = stateAt(matrix, row, column) === SHOWN ? magnitude(matrix, valueAt(matrix, row, column)) : 0;
      if (strength < 0.01) continue;
      context.globalAlpha = Math.min(strength * 1.1, 1);
      context.lineWidth = (0.5 + 3 * strength) * currentStyle(page).type;
      context.beginPath();
      context.moveTo(query.x, query.y);
      context.lineTo(key.x, key.y);
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} context @param {Page} page @param {PlotPoint} point */
function drawPoint(context, page, point) {
  const hot = isActive(page, point);
  const size = hot ? 6 : 4;
  context.fillStyle = point.side === "query" ? currentStyle(page).beam : KEY_COLOUR;
  context.beginPath();
  if (point.side === "query") context.arc(point.x, point.y, size, 0, 2 * Math.PI);
  else context.rect(point.x - size + 0.5, point.y - size + 0.5, 2 * size - 1, 2 * size - 1);
  context.fill();
  context.strokeStyle = hot ? currentStyle(page).ink : currentStyle(page).surface;
  context.lineWidth = hot ? 2 : 1;
  context.stroke();
}

/**
 * Names beside the points, as many as find room; those at hand always.
 * @param {CanvasRenderingContext2D} context @param {Page} page @param {PointsLayout} layout @param {number} width
 */
function drawPointLabels(context, page, { all }, width) {
  /** @type {number[][]} */
  const taken = [];
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const point of [...all].sort((one, other) => Number(isActive(page, other)) - Number(isActive(page, one)))) {
    const hot = isActive(page, point);
    context.font = `${hot ? "600 " : ""}${11 * currentStyle(page).type}px ${currentStyle(page).font}`;
    const name = truncateText(context, inlineText(point.name), 90);
    const wide = context.measureText(name).width;
    const x = point.x + 8 + wide > width ? point.x - 8 - wide : point.x + 8;
    const box = [x - 2, point.y - 7, x + wide + 2, point.y + 7];
    if (!hot && taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1]))
      continue;
    taken.push(box);
    context.fillStyle = hot ? currentStyle(page).ink : currentStyle(page).quiet;
    context.fillText(name, x, point.y);
  }
}

/** @param {Page} page @param {MouseEvent} event */
function pointTokenAt(page, event) {
  const { layout } = memory(page);
  if (!layout) return null;
  const frame = page.view.elements.canvas.getBoundingClientRect();
  /** @param {PlotPoint} point */
  const far = ({ x, y }) => Math.hypot(x - (event.clientX - frame.left), y - (event.clientY - frame.top));
  const nearest = layout.all.reduce((best, point) => (far(point) < far(best) ? point : best));
  if (far(nearest) > HIT_RADIUS) return null;
  return nearest.side === "query" ? { query: nearest.place, key: null } : { query: null, key: nearest.place };
}
