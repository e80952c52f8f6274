// Sizes of elements and current colours: measured once, and not while drawing.

import { canvasStyle } from "../dom/dom.ts";
import { remembered } from "../dom/memory.ts";
import type { CanvasStyle, Page } from "../types.ts";

const PAGE = '[data-testid="stMainBlockContainer"]'; // the scrolled content, with Streamlit's own parts
const ABOVE_LARGE_STAGE = 158; // pixels of the header and the panel's controls
const MIN_CELL_SIZE = 16; // least pixels of a thumbnail; the grid scrolls if they do not fit
const EASY_CELL_SIZE = 24; // smaller thumbnails are closer together; for a finger none is narrower, as WCAG 2.2 AA asks
const TOUCH_CELL_SIZE = 44; // for a finger, if all heads of a layer fit; heads_tab.css makes every cell as high
const MAX_CELL_SIZE = 92;
const GRID_HEIGHT = 440; // maximal pixels for the thumbnails of all layers
const GRID_EDGES = 38; // pixels of a row besides its thumbnails: the layer's number, and the padding
const [LEAST_HEIGHT, MOST_HEIGHT, LARGE_HEIGHT] = [260, 430, 540]; // pixels of plots beside the grid and of large ones
const BENEATH_STAGE = 128; // pixels of the legend, the reading and the panel's edge

/** The position of a thumbnail in the grid, in whole device pixels. */
export type Tile = { x: number; y: number; side: number };
type Measured = { stage?: number; grid?: number; above?: number; style?: CanvasStyle; tiles?: Tile[] };

const memory = remembered(() => ({ measured: {} as Measured, thumbnails: null as HTMLCanvasElement | null }));

/** The width of a part. Measured once: during drawing, the browser would have to lay out the whole page. */
export function measuredWidth(page: Page, part: "stage" | "grid") {
  const { measured } = memory(page);
  measured[part] ||= measureWithoutThumbnails(page, () => page.view.elements[part].clientWidth);
  return measured[part];
}

/**
 * The size of the thumbnails and the gap between them, so that all heads of a layer fit side by side.
 * @param width of the grid, in pixels
 */
export function gridCells(
  width: number,
  { layers, heads }: { layers: number; heads: number },
  byFinger: boolean = false,
) {
  const across = (gap: number) => Math.floor((width - GRID_EDGES) / heads - gap);
  const room = (gap: number) => Math.min(across(gap), Math.floor(GRID_HEIGHT / layers - gap), MAX_CELL_SIZE);
  const gap = room(4) < EASY_CELL_SIZE ? 2 : 4;
  const least = byFinger ? Math.max(EASY_CELL_SIZE, Math.min(TOUCH_CELL_SIZE, across(gap))) : MIN_CELL_SIZE;
  return { size: Math.max(room(gap), least), gap };
}

/** The positions of the thumbnails, measured once for each layout. */
export function measuredTiles(page: Page, measure: () => Tile[]) {
  const { measured } = memory(page);
  if (measured.tiles) return measured.tiles;
  const tiles = measureWithoutThumbnails(page, measure);
  if (tiles[0].side) measured.tiles = tiles; // a closed tab has no size yet
  return tiles;
}

export function clearTiles(page: Page) {
  memory(page).measured.tiles = undefined;
}

/** Registers the thumbnails' canvas to be hidden while measuring: its old size could keep a scroll bar in place. */
export function keepOutOfMeasuring(page: Page, canvas: HTMLCanvasElement) {
  memory(page).thumbnails = canvas;
}

function measureWithoutThumbnails<Result>(page: Page, measure: () => Result) {
  const { thumbnails } = memory(page);
  if (!thumbnails) return measure();
  thumbnails.hidden = true;
  const measured = measure();
  thumbnails.hidden = false;
  return measured;
}

/** The current colours and font, measured once for the same reason. */
export function currentStyle(page: Page) {
  const { measured } = memory(page);
  measured.style ??= canvasStyle(page.view.elements.root);
  return measured.style;
}

/** Call when the window, the theme or the layout has changed. */
export function clearMeasurements(page: Page) {
  memory(page).measured = {};
}

/** Pixels of the page above the stage, independent of scrolling. */
function heightAbove(page: Page) {
  const { root, stage } = page.view.elements;
  return stage.getBoundingClientRect().top - (document.querySelector(PAGE) ?? root).getBoundingClientRect().top;
}

/** The maximal height of a plot: it fits on one screen, if the screen is high enough. */
export function plotHeight(page: Page) {
  const { measured } = memory(page);
  const presenter = currentStyle(page).type > 1;
  const large = page.state.choice.panel_size === "large";
  if (large && !presenter) return LARGE_HEIGHT;
  measured.above ??= heightAbove(page);
  const room = (above: number) => Math.max(innerHeight - above - BENEATH_STAGE, LEAST_HEIGHT);
  const here = large ? 0 : room(measured.above);
  if (!presenter) return Math.min(here, MOST_HEIGHT);
  return here > LEAST_HEIGHT ? here : room(ABOVE_LARGE_STAGE); // else scrolled to, where it fills the screen
}
