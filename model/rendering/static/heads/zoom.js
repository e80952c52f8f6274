// Zooming into a map: a rectangle is drawn with the pointer, or + and - are pressed; 0 shows all again.

import { currentGrid } from "../state/head_selection.js";
import { activeQueries, keyTokens, queryTokens } from "../state/token_selection.js";
import { createElement } from "../ui/dom.js";
import { cellAtPointer } from "../ui/heatmap.js";
import { drawGrid } from "./head_grid.js";
import { activePlot } from "./head_panel.js";

const DRAG_DISTANCE = 6; // pixels from which on a press is no click any more
const MIN_WINDOW = 8; // tokens a side, the closest one can zoom

export function listenToZoom(self) {
  const { stage, canvas } = self.parts;
  const frame = createElement("div", "zoom-frame");
  frame.hidden = true;
  const all = createElement("button", "zoom-out", "Whole text");
  all.type = "button";
  all.dataset.testid = "zoom-out";
  all.title = "With the keyboard: + and - zoom, 0 shows all";
  all.onclick = () => zoomTo(self, null);
  stage.append(frame, all);
  self.zoom = { frame, all, from: null };
  canvas.onpointerdown = (event) => {
    if (event.button || event.pointerType === "touch" || activePlot(self) !== "map") return;
    self.zoom.from = { x: event.clientX, y: event.clientY, cell: cellAtPointer(canvas, self.map, event) };
    canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = (event) => drawFrame(self, event);
  canvas.onpointerup = (event) => finishFrame(self, event);
  canvas.onpointercancel = () => cancelFrame(self);
}

function isDrag(from, event) {
  return from?.cell && Math.hypot(event.clientX - from.x, event.clientY - from.y) >= DRAG_DISTANCE;
}

function drawFrame(self, event) {
  const { from, frame } = self.zoom;
  if (!isDrag(from, event)) return;
  const box = self.parts.stage.getBoundingClientRect();
  const { scrollLeft, scrollTop } = self.parts.stage;
  frame.hidden = false;
  frame.style.left = `${Math.min(from.x, event.clientX) - box.left + scrollLeft}px`;
  frame.style.top = `${Math.min(from.y, event.clientY) - box.top + scrollTop}px`;
  frame.style.width = `${Math.abs(event.clientX - from.x)}px`;
  frame.style.height = `${Math.abs(event.clientY - from.y)}px`;
}

function cancelFrame(self) {
  self.zoom.from = null;
  self.zoom.frame.hidden = true;
}

/** Zooms to the rectangle that was drawn; the click that the browser reports after it locks nothing. */
function finishFrame(self, event) {
  const { from } = self.zoom;
  const cell = cellAtPointer(self.parts.canvas, self.map, event);
  const stretched = isDrag(from, event);
  cancelFrame(self);
  if (!stretched) return;
  self.parts.stage.addEventListener("click", (click) => click.stopImmediatePropagation(), { capture: true, once: true });
  if (!cell) return;
  const { rows, columns } = self.shown;
  const span = (axis, one, other) => [axis.tokens[Math.min(one, other)][0], axis.tokens[Math.max(one, other)].at(-1) + 1];
  zoomTo(self, [...span(rows, from.cell.query, cell.query), ...span(columns, from.cell.key, cell.key)]);
}

function zoomTo(self, edges) {
  self.change({ window: edges ? `${edges[0]}-${edges[1]}/${edges[2]}-${edges[3]}` : "" });
}

/** The first and last tokens (past the end) of the rows and the columns that are shown. */
function windowOf(view) {
  const ends = (axis) => [axis.tokens[0][0], axis.tokens.at(-1).at(-1) + 1];
  return [...ends(view.rows), ...ends(view.columns)];
}

/** Whether a key zooms: half as much around the token at hand, twice as much, or all. */
export function zoomByKey(self, event) {
  if (activePlot(self) !== "map" || !self.shown) return false;
  if (event.key === "0") zoomTo(self, null);
  else if (event.key === "+" || event.key === "-") zoomTo(self, scaledWindow(self, event.key === "+" ? 0.5 : 2));
  else return false;
  return true;
}

function scaledWindow(self, factor) {
  const [top, bottom, left, right] = windowOf(self.shown);
  const [query] = activeQueries(self);
  const key = self.hovered?.key ?? Math.min(query, keyTokens(self).length - 1);
  const span = (first, end, at, count) => {
    const size = Math.min(Math.max(Math.round((end - first) * factor), MIN_WINDOW), count);
    const begin = Math.min(Math.max(Math.round(at - size / 2), 0), count - size);
    return [begin, begin + size];
  };
  const rows = span(top, bottom, query, queryTokens(self).length);
  const columns = span(left, right, key, keyTokens(self).length);
  const all = rows[0] === 0 && columns[0] === 0 && rows[1] === queryTokens(self).length && columns[1] === keyTokens(self).length;
  return all ? null : [...rows, ...columns];
}

export function drawZoomButton(self) {
  self.zoom.all.hidden = !self.choice.window || activePlot(self) !== "map";
}

/** Fills in the thumbnails of a text whose weights are made only for who looks: the chosen head's layer first. */
export async function loadPendingGrid(self) {
  const { answer } = self;
  const grid = currentGrid(self);
  if (!grid.pending || grid.filling) return;
  grid.filling = true;
  const layers = Array.from({ length: grid.layers }, (_, layer) => layer);
  layers.sort((one, other) => Math.abs(one - self.choice.layer) - Math.abs(other - self.choice.layer));
  for (const layer of layers) {
    const { meta, start, buffer } = await self.post("thumbs", { ...answer.question, attention: grid.name, layer });
    if (answer !== self.answer || meta.error) return;
    answer.bytes.set(new Uint8Array(buffer, start), grid.offset + layer * grid.heads * grid.cells[0] * grid.cells[1]);
    if (grid === currentGrid(self) && self.choice.room === "heads") drawGrid(self);
  }
  grid.pending = false;
}
