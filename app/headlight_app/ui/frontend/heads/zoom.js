// Zooming into a map: by drawing a rectangle with the pointer, or with + and -; 0 shows all again.

import { createElement } from "../dom/dom.js";
import { remembered } from "../dom/memory.js";
import { mapCellAt } from "../plots/attention_map.js";
import { shownMatrix, tokenLines } from "../state/head_matrix.js";
import { currentGroup } from "../state/head_selection.js";
import { activeQueries, keyTokens, queryTokens } from "../state/token_selection.js";
import { drawGrid, markHeads } from "./head_grid.js";
import { activePlot } from "./head_panel.js";

/** @import { AttentionGroup, HeadMatrix, MatrixAxis, Page } from "../types.js" */

const DRAG_DISTANCE = 6; // pixels; a press that moves this far is not a click
const MIN_WINDOW = 8; // tokens on each side at the closest zoom

/** The start of a press. @typedef {{ x: number, y: number, cell: { query: number, key: number } }} DragStart */

const memory = remembered(() => ({
  frame: createElement("div", "zoom-frame"),
  all: createElement("button", "zoom-out", "Reset zoom"),
  from: /** @type {DragStart | null} */ (null),
  filling: /** @type {AttentionGroup | null} */ (null),
  filled: Promise.resolve(),
}));

/** @param {Page} page */
export function listenToZoom(page) {
  const { stage, canvas } = page.view.elements;
  const { frame, all } = memory(page);
  frame.hidden = true;
  all.dataset.testid = "zoom-out";
  all.title = "With the keyboard: + and - zoom, 0 shows all";
  all.onclick = () => zoomTo(page, null);
  stage.append(frame, all);
  canvas.onpointerdown = (event) => {
    if (event.button || event.pointerType === "touch" || activePlot(page) !== "heatmap") return;
    const cell = mapCellAt(page, event);
    memory(page).from = cell && { x: event.clientX, y: event.clientY, cell };
    canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = (event) => drawFrame(page, event);
  canvas.onpointerup = (event) => finishFrame(page, event);
  canvas.onpointercancel = () => cancelFrame(page);
}

/** @param {DragStart} from @param {MouseEvent} event */
function isDrag(from, event) {
  return Math.hypot(event.clientX - from.x, event.clientY - from.y) >= DRAG_DISTANCE;
}

/** @param {Page} page @param {MouseEvent} event */
function drawFrame(page, event) {
  const { from, frame } = memory(page);
  if (!from || !isDrag(from, event)) return;
  const box = page.view.elements.stage.getBoundingClientRect();
  const { scrollLeft, scrollTop } = page.view.elements.stage;
  frame.hidden = false;
  frame.style.left = `${Math.min(from.x, event.clientX) - box.left + scrollLeft}px`;
  frame.style.top = `${Math.min(from.y, event.clientY) - box.top + scrollTop}px`;
  frame.style.width = `${Math.abs(event.clientX - from.x)}px`;
  frame.style.height = `${Math.abs(event.clientY - from.y)}px`;
}

/** @param {Page} page */
function cancelFrame(page) {
  memory(page).from = null;
  memory(page).frame.hidden = true;
}

/**
 * Zooms to the drawn rectangle; suppresses the click event that follows, which would lock a row.
 * @param {Page} page @param {MouseEvent} event
 */
function finishFrame(page, event) {
  const { from } = memory(page);
  const cell = mapCellAt(page, event);
  cancelFrame(page);
  if (!from || !isDrag(from, event)) return;
  page.view.elements.stage.addEventListener("click", (click) => click.stopImmediatePropagation(), {
    capture: true,
    once: true,
  });
  const matrix = shownMatrix(page);
  if (!cell || !matrix) return;
  /** @param {MatrixAxis} axis @param {number} one @param {number} other */
  const span = (axis, one, other) => {
    const lines = tokenLines(axis);
    const [first, last] = [one, other].map((line) => Math.min(line, lines.length - 1)).sort((a, b) => a - b);
    return [lines[first][0], lastToken(lines[last]) + 1];
  };
  zoomTo(page, [...span(matrix.rows, from.cell.query, cell.query), ...span(matrix.columns, from.cell.key, cell.key)]);
}

/** @param {number[]} tokens */
function lastToken(tokens) {
  return tokens[tokens.length - 1];
}

/** @param {Page} page @param {number[] | null} edges */
function zoomTo(page, edges) {
  page.change({ zoom: edges ? `${edges[0]}-${edges[1]}/${edges[2]}-${edges[3]}` : "" });
}

/** The first token and the end (exclusive) of the shown rows and columns. @param {HeadMatrix} matrix */
function windowOf(matrix) {
  /** @param {MatrixAxis} axis */
  const ends = (axis) => [axis.tokens[0][0], lastToken(tokenLines(axis).flat()) + 1];
  return [...ends(matrix.rows), ...ends(matrix.columns)];
}

/**
 * Zooms in by half around the active token, out to twice as much, or out to all; returns whether the key was handled.
 * @param {Page} page @param {KeyboardEvent} event
 */
export function zoomByKey(page, event) {
  const matrix = shownMatrix(page);
  if (activePlot(page) !== "heatmap" || !matrix) return false;
  if (event.key === "0") zoomTo(page, null);
  else if (event.key === "+" || event.key === "-")
    zoomTo(page, scaledWindow(page, matrix, event.key === "+" ? 0.5 : 2));
  else return false;
  return true;
}

/** @param {Page} page @param {HeadMatrix} matrix @param {number} factor */
function scaledWindow(page, matrix, factor) {
  const [top, bottom, left, right] = windowOf(matrix);
  const [query] = activeQueries(page);
  const key = page.state.pointer?.key ?? Math.min(query, keyTokens(page).length - 1);
  /** @param {number} first @param {number} end @param {number} at @param {number} count */
  const span = (first, end, at, count) => {
    const size = Math.min(Math.max(Math.round((end - first) * factor), MIN_WINDOW), count);
    const begin = Math.min(Math.max(Math.round(at - size / 2), 0), count - size);
    return [begin, begin + size];
  };
  const rows = span(top, bottom, query, queryTokens(page).length);
  const columns = span(left, right, key, keyTokens(page).length);
  const all =
    rows[0] === 0 && columns[0] === 0 && rows[1] === queryTokens(page).length && columns[1] === keyTokens(page).length;
  // A sound is not shown in full by default: only the frames before the silence.
  return all && !page.state.answer.sound ? null : [...rows, ...columns];
}

/** @param {Page} page */
export function drawZoomButton(page) {
  memory(page).all.hidden = !page.state.choice.zoom || activePlot(page) !== "heatmap";
}

/**
 * Loads, once, the thumbnails of a long text, whose weights are computed only on demand; resolves when all are loaded.
 * @param {Page} page
 */
export function loadPendingGroup(page) {
  const group = currentGroup(page);
  const known = memory(page);
  if (group.pending && known.filling !== group)
    Object.assign(known, { filling: group, filled: fillGroup(page, group) });
  return group.pending ? known.filled : Promise.resolve();
}

/** The current head's layer first. @param {Page} page @param {AttentionGroup} group */
async function fillGroup(page, group) {
  const { answer } = page.state;
  const layers = Array.from({ length: group.layers }, (_, layer) => layer);
  layers.sort((one, other) => Math.abs(one - page.state.choice.layer) - Math.abs(other - page.state.choice.layer));
  for (const layer of layers) {
    const codes = await page.server.getLayerCodes(group, layer);
    if (!codes || answer !== page.state.latestAnswer) return;
    answer.bytes.set(codes, group.offset + layer * group.heads * group.pooled_shape[0] * group.pooled_shape[1]);
    if (group !== currentGroup(page) || page.view.elements.headsTab.hidden) continue;
    drawGrid(page);
    markHeads(page);
  }
  group.pending = false;
}
