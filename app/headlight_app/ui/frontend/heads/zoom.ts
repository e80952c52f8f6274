// Zooming into a map: by drawing a rectangle with the pointer, or with + and -; 0 shows all again.

import { createElement } from "../dom/dom.ts";
import { remembered } from "../dom/memory.ts";
import { mapCellAt } from "../plots/attention_map.ts";
import { shownMatrix, tokenLines } from "../state/head_matrix.ts";
import { currentGroup } from "../state/head_selection.ts";
import { activeQueries, keyTokens, queryTokens } from "../state/token_selection.ts";
import type { AttentionGroup, HeadMatrix, MatrixAxis, Page } from "../types.ts";
import { drawGrid, markHeads } from "./head_grid.ts";
import { activePlot } from "./head_panel.ts";

const DRAG_DISTANCE = 6; // pixels; a press that moves this far is not a click
const MIN_WINDOW = 8; // tokens on each side at the closest zoom

/** The start of a press. */
type DragStart = { x: number; y: number; cell: { query: number; key: number } };

const memory = remembered(() => ({
  frame: createElement("div", "zoom-frame"),
  all: createElement("button", "zoom-out", "Reset zoom"),
  from: null as DragStart | null,
  filling: null as AttentionGroup | null,
  filled: Promise.resolve(),
}));

export function listenToZoom(page: Page) {
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

function isDrag(from: DragStart, event: MouseEvent) {
  return Math.hypot(event.clientX - from.x, event.clientY - from.y) >= DRAG_DISTANCE;
}

function drawFrame(page: Page, event: MouseEvent) {
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

function cancelFrame(page: Page) {
  memory(page).from = null;
  memory(page).frame.hidden = true;
}

/** Zooms to the drawn rectangle; suppresses the click event that follows, which would lock a row. */
function finishFrame(page: Page, event: MouseEvent) {
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
  const span = (axis: MatrixAxis, one: number, other: number) => {
    const lines = tokenLines(axis);
    const [first, last] = [one, other].map((line) => Math.min(line, lines.length - 1)).sort((a, b) => a - b);
    return [lines[first][0], lastToken(lines[last]) + 1];
  };
  zoomTo(page, [...span(matrix.rows, from.cell.query, cell.query), ...span(matrix.columns, from.cell.key, cell.key)]);
}

function lastToken(tokens: number[]) {
  return tokens[tokens.length - 1];
}

function zoomTo(page: Page, edges: number[] | null) {
  page.change({ zoom: edges ? `${edges[0]}-${edges[1]}/${edges[2]}-${edges[3]}` : "" });
}

/** The first token and the end (exclusive) of the shown rows and columns. */
function windowOf(matrix: HeadMatrix) {
  const ends = (axis: MatrixAxis) => [axis.tokens[0][0], lastToken(tokenLines(axis).flat()) + 1];
  return [...ends(matrix.rows), ...ends(matrix.columns)];
}

/**
 * Zooms in by half around the active token, out to twice as much, or out to all; returns whether the key was handled.
 */
export function zoomByKey(page: Page, event: KeyboardEvent) {
  const matrix = shownMatrix(page);
  if (activePlot(page) !== "heatmap" || !matrix) return false;
  if (event.key === "0") zoomTo(page, null);
  else if (event.key === "+" || event.key === "-")
    zoomTo(page, scaledWindow(page, matrix, event.key === "+" ? 0.5 : 2));
  else return false;
  return true;
}

function scaledWindow(page: Page, matrix: HeadMatrix, factor: number) {
  const [top, bottom, left, right] = windowOf(matrix);
  const [query] = activeQueries(page);
  const key = page.state.pointer?.key ?? Math.min(query, keyTokens(page).length - 1);
  const span = (first: number, end: number, at: number, count: number) => {
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

export function drawZoomButton(page: Page) {
  memory(page).all.hidden = !page.state.choice.zoom || activePlot(page) !== "heatmap";
}

/**
 * Loads, once, the thumbnails of a long text, whose weights are computed only on demand; resolves when all are loaded.
 */
export function loadPendingGroup(page: Page) {
  const group = currentGroup(page);
  const known = memory(page);
  if (group.pending && known.filling !== group)
    Object.assign(known, { filling: group, filled: fillGroup(page, group) });
  return group.pending ? known.filled : Promise.resolve();
}

/** The current head's layer first. */
async function fillGroup(page: Page, group: AttentionGroup) {
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
