// How large things are and what colours are in force: measured once, not amid drawing.

import { canvasStyle } from "../dom/dom.js";
import { remembered } from "../state/memory.js";

/** @import { CanvasStyle, Page } from "../types.js" */

const PAGE = '[data-testid="stMainBlockContainer"]'; // all that scrolls, with what Streamlit has above the instrument
const ABOVE_LARGE_STAGE = 158; // pixels there of the header and the panel's own controls
const [MIN_CELL_SIZE, FINGER] = [16, 44]; // pixels of a thumbnail; the grid scrolls where not even these fit
const EASY_CELL_SIZE = 24; // smaller thumbnails stand closer together
const MAX_CELL_SIZE = 92;
const GRID_HEIGHT = 440; // pixels that the thumbnails of all layers should not need more of
const GRID_EDGES = 38; // pixels of a row of the grid beside its thumbnails: the layer's number, and the padding
const [LEAST_HEIGHT, MOST_HEIGHT, LARGE_HEIGHT] = [260, 430, 540]; // pixels of a plot beside all heads, and of a large one
const BENEATH_STAGE = 128; // pixels there of the legend, the reading and the panel's edge

/**
 * Where a thumbnail lies in its grid, in whole pixels of the screen.
 * @typedef {{ x: number, y: number, side: number }} Tile
 */
/** @typedef {{ stage?: number, grid?: number, above?: number, style?: CanvasStyle, tiles?: Tile[] }} Measured */

const memory = remembered(() => ({
  measured: /** @type {Measured} */ ({}),
  thumbnails: /** @type {HTMLCanvasElement | null} */ (null),
}));

/**
 * How wide a part is. Measured once: asked amid drawing, the browser would lay out all of the page to say it.
 * @param {Page} page @param {"stage" | "grid"} part
 */
export function measuredWidth(page, part) {
  const { measured } = memory(page);
  measured[part] ||= measureWithoutThumbnails(page, () => page.view.elements[part].clientWidth);
  return measured[part];
}

/**
 * How large the grid's thumbnails are and how far they stand apart, so that all heads of a layer fit beside each other.
 * @param {number} width of the grid, in pixels @param {{ layers: number, heads: number }} shape @param {boolean} [byFinger]
 */
export function gridCells(width, { layers, heads }, byFinger = false) {
  const room = (/** @type {number} */ gap) =>
    Math.floor(Math.min((width - GRID_EDGES) / heads - gap, GRID_HEIGHT / layers - gap, MAX_CELL_SIZE));
  const gap = room(4) < EASY_CELL_SIZE ? 2 : 4;
  return { size: Math.max(room(gap), byFinger ? FINGER : MIN_CELL_SIZE), gap };
}

/** The thumbnails' tiles, measured once for each arrangement. @param {Page} page @param {() => Tile[]} measure */
export function measuredTiles(page, measure) {
  const { measured } = memory(page);
  if (measured.tiles) return measured.tiles;
  const tiles = measureWithoutThumbnails(page, measure);
  if (tiles[0].side) measured.tiles = tiles; // a closed tab has no size yet
  return tiles;
}

/** @param {Page} page */
export function clearTiles(page) {
  memory(page).measured.tiles = undefined;
}

/**
 * The canvas that all thumbnails are on: still as large as before, it could hold a scroll bar in its place.
 * @param {Page} page @param {HTMLCanvasElement} canvas
 */
export function keepOutOfMeasuring(page, canvas) {
  memory(page).thumbnails = canvas;
}

/** @template Result @param {Page} page @param {() => Result} measure */
function measureWithoutThumbnails(page, measure) {
  const { thumbnails } = memory(page);
  if (!thumbnails) return measure();
  thumbnails.hidden = true;
  const measured = measure();
  thumbnails.hidden = false;
  return measured;
}

/** The colours and the font, measured once for the same reason. @param {Page} page */
export function currentStyle(page) {
  const { measured } = memory(page);
  measured.style ??= canvasStyle(page.view.elements.root);
  return measured.style;
}

/** The window, the theme or the arrangement is another one. @param {Page} page */
export function clearMeasurements(page) {
  memory(page).measured = {};
}

/** Pixels of the page above the stage, however far it is scrolled. @param {Page} page */
function heightAbove(page) {
  const { root, stage } = page.view.elements;
  return stage.getBoundingClientRect().top - (document.querySelector(PAGE) ?? root).getBoundingClientRect().top;
}

/** How high a plot may be: all of it on one screen, where that is high enough. @param {Page} page */
export function plotHeight(page) {
  const { measured } = memory(page);
  const presenter = currentStyle(page).type > 1;
  const large = page.state.choice.panel_size === "large";
  if (large && !presenter) return LARGE_HEIGHT;
  measured.above ??= heightAbove(page);
  const room = (/** @type {number} */ above) => Math.max(innerHeight - above - BENEATH_STAGE, LEAST_HEIGHT);
  const here = large ? 0 : room(measured.above);
  if (!presenter) return Math.min(here, MOST_HEIGHT);
  return here > LEAST_HEIGHT ? here : room(ABOVE_LARGE_STAGE); // what is further down is scrolled to, and has a projector's screen for itself
}
