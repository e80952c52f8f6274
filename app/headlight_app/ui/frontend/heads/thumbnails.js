// Paints all thumbnails of the grid on one canvas, beneath the cells that receive the clicks.
//
// With one canvas for each head, the browser keeps a layer for each and one more for the elements above it, and
// composites all of them in every frame: typing a letter took a quarter longer.

import { paintCodes, weightColours } from "../charts/colours.js";
import { blit, hidpiContext } from "../dom/dom.js";
import { remembered } from "../dom/memory.js";
import { currentStyle, measuredTiles } from "../plots/measurements.js";
import { isOff } from "../state/head_ablation.js";
import { patternCodes } from "../state/head_matrix.js";

/** @import { AttentionGroup, Page } from "../types.js" */
/** @import { Thumbnail } from "./head_grid.js" */
/** @import { Tile } from "../plots/measurements.js" */

export const MAX_CELLS = 80; // a side
const CORNER_RADIUS = 5; // pixels
const OFF_OPACITY = 0.35; // of a head that is off

const memory = remembered(() => ({ paper: document.createElement("canvas"), stamp: document.createElement("canvas") }));

/**
 * Reduces a map to the pixels of a thumbnail: the largest code of each block.
 * @param {Uint8Array} codes @param {number} rows @param {number} columns @param {number} [most] cells on each side
 * @returns {[codes: Uint8Array, rows: number, columns: number]}
 */
export function maxPool(codes, rows, columns, most = MAX_CELLS) {
  if (rows <= most && columns <= most) return [codes, rows, columns];
  const [height, width] = [Math.min(rows, most), Math.min(columns, most)];
  const small = new Uint8Array(height * width);
  codes.forEach((code, cell) => {
    const row = Math.floor((Math.floor(cell / columns) * height) / rows);
    const place = row * width + Math.floor(((cell % columns) * width) / columns);
    if (code > small[place]) small[place] = code;
  });
  return [small, height, width];
}

/** The positions of the thumbnails. @param {HTMLElement} grid @param {Thumbnail[]} thumbnails @returns {Tile[]} */
function measureTiles(grid, thumbnails) {
  const ratio = window.devicePixelRatio || 1;
  /** @param {number} length */
  const whole = (length) => Math.round(length * ratio) / ratio;
  const { left, top } = grid.getBoundingClientRect();
  return thumbnails.map(({ tile }) => {
    const box = tile.getBoundingClientRect();
    return {
      x: whole(box.left - left + grid.scrollLeft),
      y: whole(box.top - top + grid.scrollTop),
      side: whole(box.width),
    };
  });
}

/**
 * @param {Page} page @param {AttentionGroup} group @param {Thumbnail[]} thumbnails @param {HTMLCanvasElement} canvas
 * @param {number} high the weight at the end of the colour scale
 */
export function drawThumbnails(page, group, thumbnails, canvas, high) {
  const tiles = measuredTiles(page, () => measureTiles(page.view.elements.grid, thumbnails));
  if (!tiles[0].side) return;
  const { paper, stamp } = memory(page);
  const width = Math.max(...tiles.map((tile) => tile.x + tile.side));
  const height = Math.max(...tiles.map((tile) => tile.y + tile.side));
  const context = hidpiContext(paper, width, height);
  context.imageSmoothingEnabled = false;
  const ink = weightColours(high);
  thumbnails.forEach(({ layer, head }, place) => {
    const [codes, rows, columns] = maxPool(patternCodes(page, group, layer, head), ...group.pooled_shape);
    paintCodes(stamp, codes, rows, columns, ink);
    drawThumbnail(page, context, stamp, tiles[place], isOff(page.state.choice.edits, group, layer, head));
  });
  blit(paper, canvas);
}

/**
 * @param {Page} page @param {CanvasRenderingContext2D} context @param {HTMLCanvasElement} stamp @param {Tile} tile
 * @param {boolean} off
 */
function drawThumbnail(page, context, stamp, { x, y, side }, off) {
  context.save();
  context.beginPath();
  context.roundRect(x, y, side, side, CORNER_RADIUS);
  context.clip();
  context.fillStyle = currentStyle(page).raised;
  context.fillRect(x, y, side, side);
  context.globalAlpha = off ? OFF_OPACITY : 1;
  context.drawImage(stamp, x, y, side, side);
  context.restore();
}
