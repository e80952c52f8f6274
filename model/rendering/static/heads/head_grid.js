// All heads as thumbnails: layer by layer, or in the order of what they do.

import { currentGrid, headName, headsOff, isOff, isSelected, layerHeads, selectHead, selectLayer, selectedHeads, toggleHeads } from "../state/head_selection.js";
import { HEAD_COLOURS } from "../ui/colours.js";
import { createElement, formatPercent } from "../ui/dom.js";
import { measuredWidth } from "./measurements.js";
import { drawThumbnails } from "./thumbnails.js";

const MIN_CELL_SIZE = 24; // pixels of a thumbnail; past that the grid scrolls
const MAX_CELL_SIZE = 92;
const GRID_HEIGHT = 440; // pixels that the thumbnails of all layers should not need more of

/** Every metric of every head, layer after layer; null while a long text's are on their way. */
export function metricsOf(self, grid) {
  return grid.metrics || self.wanted("metrics", { attention: grid.name }, 120)?.meta.metrics || null;
}

/** The heads in the order in which they are shown, and whether that is by a metric. */
function sortedHeads(self, grid) {
  const heads = Array.from({ length: grid.layers }, (_, layer) => layerHeads(grid, layer)).flat();
  const values = self.choice.sort === "layer" ? null : metricsOf(self, grid)?.[self.choice.sort];
  if (!values) return { heads, values: null };
  const rank = ([layer, head]) => values[layer * grid.heads + head] ?? -Infinity;
  return { heads: heads.sort((one, other) => rank(other) - rank(one)), values };
}

function createThumbnail() {
  const cell = createElement("div", "thumb");
  cell.setAttribute("role", "gridcell");
  const tile = createElement("div", "tile");
  tile.append(createSwitch());
  cell.append(tile, createElement("span", "rank"));
  return cell;
}

function createSwitch() {
  const button = createElement("button", "dot");
  button.type = "button";
  button.tabIndex = -1;
  return button;
}

/** A layer's number collects its heads, the dot beside it switches them. */
function createLayerLabel(layer) {
  const label = createElement("div", "label");
  label.setAttribute("role", "rowheader");
  const name = createElement("button", "name", layer);
  name.type = "button";
  name.tabIndex = -1;
  name.title = `Collect all heads of layer ${layer}`;
  name.dataset.layer = layer;
  name.dataset.testid = `layer-${layer}`;
  const off = createSwitch();
  off.dataset.layer = layer;
  off.dataset.testid = `switch-layer-${layer}`;
  label.append(name, off);
  return label;
}

function createRow(...children) {
  const element = createElement("div", "row");
  element.setAttribute("role", "row");
  element.append(...children);
  return element;
}

/** Lays the thumbnails out anew only when their number or order of kind changes; painting them is another matter. */
function layoutGrid(self, grid, ranked) {
  const table = self.parts.grid;
  const width = measuredWidth(self, "grid") || 380;
  const gap = grid.heads > 16 ? 2 : 4;
  const room = Math.min((width - 40) / grid.heads - gap, GRID_HEIGHT / grid.layers - gap, MAX_CELL_SIZE);
  const cell = Math.max(Math.floor(room), MIN_CELL_SIZE);
  table.style.setProperty("--heads", grid.heads);
  table.style.setProperty("--gap", `${gap}px`);
  table.style.setProperty("--cell", `${cell}px`);
  if (self.cell !== cell) self.measured.tiles = null;
  self.cell = cell;
  const shape = `${grid.name} ${grid.layers}x${grid.heads} ${ranked}`;
  if (self.shape === shape) return;
  self.shape = shape;
  self.measured.tiles = null;
  self.thumbs = createElement("canvas", "thumbs");
  self.thumbs.setAttribute("aria-hidden", "true");
  self.cells = Array.from({ length: grid.layers * grid.heads }, createThumbnail);
  table.classList.toggle("by-metric", ranked);
  if (ranked) return table.replaceChildren(self.thumbs, createRow(...self.cells));
  const top = createElement("div", "row top");
  top.setAttribute("aria-hidden", "true");
  top.append(createElement("span", "corner", "layer"), ...Array.from({ length: grid.heads }, (_, head) => createElement("span", "", head)));
  const layers = Array.from({ length: grid.layers }, (_, layer) =>
    createRow(createLayerLabel(layer), ...self.cells.slice(layer * grid.heads, (layer + 1) * grid.heads)),
  );
  table.replaceChildren(self.thumbs, top, ...layers);
}

function thumbnailAt(self, layer, head) {
  return self.cells.find((cell) => Number(cell.dataset.layer) === layer && Number(cell.dataset.head) === head);
}

export function drawGrid(self) {
  const grid = currentGrid(self);
  const { heads, values } = sortedHeads(self, grid);
  const focused = self.parts.grid.contains(self.parts.grid.getRootNode().activeElement);
  layoutGrid(self, grid, Boolean(values));
  heads.forEach(([layer, head], place) => {
    const cell = self.cells[place];
    cell.dataset.layer = layer;
    cell.dataset.head = head;
    cell.dataset.testid = `head-${layer}-${head}`;
    cell.firstChild.firstChild.dataset.testid = `switch-${layer}-${head}`;
    cell.lastChild.replaceChildren(...(values ? rankLabel(self, layer, head, values[layer * grid.heads + head]) : []));
  });
  drawThumbnails(self, grid);
  if (focused) thumbnailAt(self, ...focusedHead(self))?.focus();
}

function rankLabel(self, layer, head, value) {
  return [createElement("b", "", `L${layer} H${head}`), createElement("span", "", formatMetric(self, self.choice.sort, value))];
}

/** A metric as a reader wants it: shares in percent, all else with its unit. */
export function formatMetric(self, name, value) {
  if (value === null || value === undefined) return "–";
  const { unit } = self.metrics.find((metric) => metric.name === name) || {};
  return unit ? `${value.toFixed(2)} ${unit}` : formatPercent(value);
}

function focusedHead(self) {
  return self.focus || [self.choice.layer, self.choice.head];
}

/** Marks the chosen and collected heads, and the ones that are off. */
export function markHeads(self) {
  const grid = currentGrid(self);
  const [focusLayer, focusHead] = focusedHead(self);
  let faded = false;
  for (const cell of self.cells) {
    const [layer, head] = [Number(cell.dataset.layer), Number(cell.dataset.head)];
    const chosen = layer === self.choice.layer && head === self.choice.head;
    const collected = isSelected(self, layer, head);
    const off = isOff(self, grid, layer, head);
    cell.classList.toggle("chosen", chosen);
    cell.classList.toggle("collected", collected);
    faded ||= cell.classList.contains("off") !== off;
    cell.classList.toggle("off", off);
    cell.setAttribute("aria-selected", String(chosen || collected));
    cell.setAttribute("aria-label", `Layer ${layer}, head ${head}${collected ? ", collected" : ""}${off ? ", off" : ""}`);
    cell.title = `Layer ${layer}, head ${head}${off ? " (off)" : ""}`;
    cell.tabIndex = layer === focusLayer && head === focusHead ? 0 : -1;
    labelSwitch(cell.firstChild.firstChild, off, `head ${head} of layer ${layer}`);
  }
  if (faded) drawThumbnails(self, grid);
  selectedHeads(self).forEach((one, place) => {
    thumbnailAt(self, ...one)?.style.setProperty("--mine", HEAD_COLOURS[place % HEAD_COLOURS.length]);
  });
  for (const off of self.parts.grid.querySelectorAll(".label .dot")) {
    const layer = Number(off.dataset.layer);
    const all = headsOff(self, grid, layer).length === grid.heads;
    off.classList.toggle("is-off", all);
    labelSwitch(off, all, `all heads of layer ${layer}`);
  }
}

function labelSwitch(button, off, what) {
  button.setAttribute("aria-label", `Switch ${what} ${off ? "on" : "off"}`);
  button.title = `Switch ${what} ${off ? "on" : "off"}`;
}

export function onGridClick(self, event) {
  const [off, name, cell] = [".dot", ".name", ".thumb"].map((part) => event.target.closest(part));
  const grid = currentGrid(self);
  if (off && !cell) return toggleHeads(self, layerHeads(grid, Number(off.dataset.layer)));
  if (name) return selectLayer(self, Number(name.dataset.layer));
  if (!cell) return;
  const [layer, head] = [Number(cell.dataset.layer), Number(cell.dataset.head)];
  if (off) toggleHeads(self, [[layer, head]]);
  else if (event.altKey) self.change({ view: "head", versus: headName([layer, head]) });
  else selectHead(self, layer, head, event.shiftKey || event.ctrlKey || event.metaKey);
}

const ARROW_STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

/** The head that lies a step away from the focused one, as they are shown. */
function neighbourHead(self, grid, [down, right]) {
  const [layer, head] = focusedHead(self);
  const clamp = (value, most) => Math.min(Math.max(value, 0), most - 1);
  if (!self.parts.grid.classList.contains("by-metric")) return [clamp(layer + down, grid.layers), clamp(head + right, grid.heads)];
  const tops = self.cells.map((cell) => cell.offsetTop);
  const across = Math.max(tops.filter((top) => top === tops[0]).length, 1);
  const cell = self.cells[clamp(self.cells.indexOf(thumbnailAt(self, layer, head)) + down * across + right, self.cells.length)];
  return [Number(cell.dataset.layer), Number(cell.dataset.head)];
}

/** Arrows choose, with Ctrl or while heads are collected they only walk; Shift+Enter collects, l a layer; o and O switch. */
export function onGridKey(self, event) {
  if (event.target.closest("button")) return;
  const grid = currentGrid(self);
  const [layer, head] = focusedHead(self);
  if (ARROW_STEPS[event.key]) {
    const next = neighbourHead(self, grid, ARROW_STEPS[event.key]);
    if (event.ctrlKey || self.choice.heads.length) {
      self.focus = next;
      markHeads(self);
    } else selectHead(self, ...next);
    thumbnailAt(self, ...next).focus();
  } else if ((event.key === "Enter" || event.key === " ") && event.shiftKey) selectHead(self, layer, head, true);
  else if (event.key === "Enter") selectHead(self, layer, head);
  else if (event.key === " " || event.key === "o") toggleHeads(self, [[layer, head]]);
  else if (event.key === "l") selectLayer(self, layer);
  else if (event.key === "O") toggleHeads(self, layerHeads(grid, layer));
  else if (event.key === "Escape" && self.choice.heads.length) self.change({ heads: [] });
  else return;
  event.preventDefault();
}
