// All heads as thumbnails: layer by layer, or sorted by a metric.

import { HEAD_COLOURS } from "../charts/colours.ts";
import { activeElement, closest, createElement } from "../dom/dom.ts";
import { GRID_STEPS } from "../dom/keyboard.ts";
import { remembered } from "../dom/memory.ts";
import { clearTiles, gridCells, keepOutOfMeasuring, measuredWidth } from "../plots/measurements.ts";
import { beyondEnd, currentColourRange, formatHigh, gridHigh } from "../state/colour_range.ts";
import { headsOff, isOff } from "../state/head_ablation.ts";
import {
  currentGroup,
  headName,
  isSelected,
  layerHeads,
  selectedHeads,
  selectHead,
  selectLayer,
  toggleHeads,
} from "../state/head_selection.ts";
import { isMultiSelect } from "../state/token_selection.ts";
import type { AttentionGroup, Head, Page } from "../types.ts";
import { forgetOrder, formatMetric, headOrder } from "./head_order.ts";
import { drawThumbnails } from "./thumbnails.ts";

/** A head, and the state of its marks, which are written only if it changes. */
type Marked = { layer: number; head: number; marked: string };
/** A head's cell in the grid. */
export type Thumbnail = Marked & { cell: HTMLElement; tile: HTMLElement; off: HTMLElement; rank: HTMLElement };

const memory = remembered(() => ({
  thumbnails: [] as Thumbnail[],
  canvas: null as HTMLCanvasElement | null,
  size: 0,
  shape: "",
  high: 1, // the weight at the end of the colour scale
  painted: false, // whether the canvas is up to date
}));

function createThumbnail(): Thumbnail {
  const off = createSwitch();
  const rank = createElement("span", "rank");
  const tile = createElement("div", "tile", [off]);
  const cell = createElement("div", "thumb", [tile, rank], { role: "gridcell" });
  return { layer: -1, head: -1, marked: "", cell, tile, off, rank };
}

function createSwitch() {
  return createElement("button", "dot", [], { tabIndex: -1 });
}

/** A layer's number selects its heads; the dot beside it switches them on or off. */
function createLayerLabel(layer: number) {
  const name = createElement("button", "name", layer, { tabIndex: -1, title: `Select all heads of layer ${layer}` });
  name.dataset.layer = String(layer);
  name.dataset.testid = `layer-${layer}`;
  const off = createSwitch();
  off.dataset.layer = String(layer);
  off.dataset.testid = `switch-layer-${layer}`;
  return createElement("div", "label", [name, off], { role: "rowheader" });
}

function createRow(...children: Node[]) {
  return createElement("div", "row", children, { role: "row" });
}

/**
 * Rebuilds the layout only if the number of thumbnails or the kind of order has changed; they are painted separately.
 */
function layoutGrid(page: Page, group: AttentionGroup, ranked: boolean) {
  const drawn = memory(page);
  const table = page.view.elements.grid;
  const byFinger = matchMedia("(pointer: coarse)").matches;
  const { size, gap } = gridCells(measuredWidth(page, "grid") || 380, group, byFinger);
  table.style.setProperty("--heads", String(group.heads));
  table.style.setProperty("--gap", `${gap}px`);
  table.style.setProperty("--cell", `${size}px`);
  if (drawn.size !== size) clearTiles(page);
  drawn.size = size;
  const shape = `${group.name} ${group.layers}x${group.heads} ${ranked}`;
  if (drawn.shape === shape) return;
  drawn.shape = shape;
  clearTiles(page);
  const canvas = createElement("canvas", "thumbs", [], { ariaHidden: "true" });
  keepOutOfMeasuring(page, canvas);
  drawn.canvas = canvas;
  drawn.thumbnails = Array.from({ length: group.layers * group.heads }, createThumbnail);
  table.classList.toggle("by-metric", ranked);
  const cells = drawn.thumbnails.map(({ cell }) => cell);
  table.replaceChildren(canvas, ...(ranked ? [createRow(...cells)] : layerRows(group, cells)));
}

/** A row with the numbers of the heads, then one row for each layer. */
function layerRows(group: AttentionGroup, cells: HTMLElement[]) {
  const top = createElement("div", "row top", [], { ariaHidden: "true" });
  top.append(
    createElement("span", "corner", "layer"),
    ...Array.from({ length: group.heads }, (_, head) => createElement("span", "", head)),
  );
  const layers = Array.from({ length: group.layers }, (_, layer) =>
    createRow(createLayerLabel(layer), ...cells.slice(layer * group.heads, (layer + 1) * group.heads)),
  );
  return [top, ...layers];
}

/** Call when the font size changes, as in presenter mode: rebuilds the layout. */
export function clearGrid(page: Page) {
  memory(page).shape = "";
}

function thumbnailAt(page: Page, layer: number, head: number) {
  return memory(page).thumbnails.find((one) => one.layer === layer && one.head === head);
}

export function drawGrid(page: Page) {
  const group = currentGroup(page);
  const { heads, values, outdated } = headOrder(page, group);
  const focused = page.view.elements.grid.contains(activeElement(page.view.elements.grid));
  layoutGrid(page, group, Boolean(values));
  heads.forEach(([layer, head], place) => {
    const thumbnail = memory(page).thumbnails[place];
    if (thumbnail.layer !== layer || thumbnail.head !== head) nameHead(thumbnail, layer, head);
    thumbnail.rank.replaceChildren(...(values ? rankLabel(page, layer, head, values[layer * group.heads + head]) : []));
  });
  const { sortAgain } = page.view.elements;
  sortAgain.hidden = !values;
  sortAgain.style.visibility = outdated ? "visible" : "hidden"; // it keeps its space: the grid must not move
  memory(page).high = gridHigh(page, group);
  memory(page).painted = false;
  drawGridLegend(page);
  if (focused) thumbnailAt(page, ...focusedHead(page))?.cell.focus();
}

function nameHead(thumbnail: Thumbnail, layer: number, head: number) {
  Object.assign(thumbnail, { layer, head });
  Object.assign(thumbnail.cell.dataset, { layer, head, testid: `head-${layer}-${head}` });
  thumbnail.off.dataset.testid = `switch-${layer}-${head}`;
}

function paintGrid(page: Page, group: AttentionGroup) {
  const drawn = memory(page);
  if (drawn.canvas) drawThumbnails(page, group, drawn.thumbnails, drawn.canvas, drawn.high);
  drawn.painted = true;
}

/** The end of the colour scale, which is the same for all heads. */
function drawGridLegend(page: Page) {
  const range = currentColourRange(page);
  page.view.elements.gridHigh.textContent = `${formatHigh(memory(page).high)}${beyondEnd(range)}`;
  const shared = range.quantile === null ? "" : " · one scale for all heads";
  page.view.elements.gridNote.textContent = `${currentGroup(page).shows || "weight"} · square-root scale${shared}`;
}

/** Sorts the heads by their current numbers. */
export function sortAgain(page: Page) {
  forgetOrder(page);
  drawGrid(page);
  markHeads(page);
}

function rankLabel(page: Page, layer: number, head: number, value: number | null | undefined) {
  return [
    createElement("b", "", `L${layer} H${head}`),
    createElement("span", "", formatMetric(page, page.state.choice.sort, value)),
  ];
}

function focusedHead(page: Page): Head {
  return page.state.focus ?? [page.state.choice.layer, page.state.choice.head];
}

/** Marks the current, the selected and the switched-off heads; repaints changed thumbnails. */
export function markHeads(page: Page) {
  const group = currentGroup(page);
  const faded = memory(page).thumbnails.map((thumbnail) => markHead(page, group, thumbnail));
  if (faded.includes(true) || !memory(page).painted) paintGrid(page, group);
  selectedHeads(page).forEach(([layer, head], place) => {
    thumbnailAt(page, layer, head)?.cell.style.setProperty("--mine", HEAD_COLOURS[place % HEAD_COLOURS.length]);
  });
  for (const off of page.view.elements.grid.querySelectorAll(".label .dot") as NodeListOf<HTMLElement>) {
    const layer = Number(off.dataset.layer);
    const all = headsOff(page.state.choice.edits, group, layer).length === group.heads;
    off.classList.toggle("is-off", all);
    labelSwitch(off, all, `all heads of layer ${layer}`);
  }
}

/** Marks one head; returns whether it was switched on or off since the last call. */
function markHead(page: Page, group: AttentionGroup, thumbnail: Thumbnail) {
  const { layer, head, cell, off: button } = thumbnail;
  const { choice } = page.state;
  const [focusLayer, focusHead] = focusedHead(page);
  const current = layer === choice.layer && head === choice.head;
  const selected = isSelected(page, layer, head);
  const off = isOff(page.state.choice.edits, group, layer, head);
  const aligned = group.aligned.some((one) => one[0] === layer && one[1] === head);
  const focused = layer === focusLayer && head === focusHead;
  const marked = `${[layer, head, current, selected, off, aligned, focused]}`;
  if (thumbnail.marked === marked) return false;
  thumbnail.marked = marked;
  const faded = cell.classList.contains("off") !== off;
  cell.classList.toggle("chosen", current);
  cell.classList.toggle("selected", selected);
  cell.classList.toggle("off", off);
  cell.ariaSelected = String(current || selected);
  cell.classList.toggle("aligned", aligned);
  const follows = aligned ? ", alignment head" : "";
  cell.ariaLabel = `Layer ${layer}, head ${head}${follows}${selected ? ", selected" : ""}${off ? ", off" : ""}`;
  cell.title = `Layer ${layer}, head ${head}${follows}${off ? " (off)" : ""}`;
  cell.tabIndex = focused ? 0 : -1;
  labelSwitch(button, off, `head ${head} of layer ${layer}`);
  return faded;
}

function labelSwitch(button: HTMLElement, off: boolean, what: string) {
  button.ariaLabel = `Switch ${what} ${off ? "on" : "off"}`;
  button.title = `Switch ${what} ${off ? "on" : "off"}`;
}

export function onGridClick(page: Page, event: MouseEvent) {
  const [off, name, cell] = [".dot", ".name", ".thumb"].map((part) => closest(event, part));
  const group = currentGroup(page);
  if (off && !cell) return toggleHeads(page, layerHeads(group, Number(off.dataset.layer)));
  if (name) return selectLayer(page, Number(name.dataset.layer));
  if (!cell) return;
  const [layer, head] = [Number(cell.dataset.layer), Number(cell.dataset.head)];
  if (off) toggleHeads(page, [[layer, head]]);
  else if (event.altKey) page.change({ quantity: "minus_head", other_head: headName([layer, head]) });
  else selectHead(page, layer, head, isMultiSelect(event));
}

/** The head one step away from the focused one, in the displayed arrangement. */
function neighbourHead(page: Page, group: AttentionGroup, [down, right]: [number, number]): Head {
  const [layer, head] = focusedHead(page);
  const clamp = (value: number, most: number) => Math.min(Math.max(value, 0), most - 1);
  if (!page.view.elements.grid.classList.contains("by-metric"))
    return [clamp(layer + down, group.layers), clamp(head + right, group.heads)];
  const { thumbnails } = memory(page);
  const tops = thumbnails.map(({ cell }) => cell.offsetTop);
  const across = Math.max(tops.filter((top) => top === tops[0]).length, 1);
  const here = thumbnails.findIndex((one) => one.layer === layer && one.head === head);
  const next = thumbnails[clamp(here + down * across + right, thumbnails.length)];
  return [next.layer, next.head];
}

/**
 * Arrows choose a head; with Ctrl, or while several heads are selected, they only move the focus. Shift+Enter adds a
 * head to the selection, l adds a layer; o and O switch heads on or off.
 */
export function onGridKey(page: Page, event: KeyboardEvent) {
  if (closest(event, "button")) return;
  const group = currentGroup(page);
  const [layer, head] = focusedHead(page);
  const step = GRID_STEPS[event.key];
  if (step) {
    const next = neighbourHead(page, group, step);
    if (event.ctrlKey || page.state.choice.heads.length) {
      page.state.focusHead(next);
      markHeads(page);
    } else selectHead(page, ...next);
    thumbnailAt(page, ...next)?.cell.focus();
  } else if ((event.key === "Enter" || event.key === " ") && event.shiftKey) selectHead(page, layer, head, true);
  else if (event.key === "Enter") selectHead(page, layer, head);
  else if (event.key === " " || event.key === "o") toggleHeads(page, [[layer, head]]);
  else if (event.key === "l") selectLayer(page, layer);
  else if (event.key === "O") toggleHeads(page, layerHeads(group, layer));
  else if (event.key === "Escape" && page.state.choice.heads.length) page.change({ heads: [] });
  else return;
  event.preventDefault();
}
