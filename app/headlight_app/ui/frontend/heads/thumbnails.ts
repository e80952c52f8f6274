// Paints all thumbnails of the grid on one canvas, beneath the cells that receive the clicks.
//
// With one canvas for each head, the browser keeps a layer for each and one more for the elements above it, and
// composites all of them in every frame: typing a letter took a quarter longer.

import { paintCodes, weightColours } from "../charts/colours.ts";
import { blit, hidpiContext } from "../dom/dom.ts";
import { remembered } from "../dom/memory.ts";
import type { Tile } from "../plots/measurements.ts";
import { currentStyle, measuredTiles } from "../plots/measurements.ts";
import { isOff } from "../state/head_ablation.ts";
import { patternCodes } from "../state/head_matrix.ts";
import type { AttentionGroup, Page } from "../types.ts";
import type { Thumbnail } from "./head_grid.ts";

export const MAX_CELLS = 80; // a side
const CORNER_RADIUS = 5; // pixels
const OFF_OPACITY = 0.35; // of a head that is off

const memory = remembered(() => ({ paper: document.createElement("canvas"), stamp: document.createElement("canvas") }));

/** Reduces a map to the pixels of a thumbnail: the largest code of each block. @param most cells on each side */
export function maxPool(
  codes: Uint8Array,
  rows: number,
  columns: number,
  most: number = MAX_CELLS,
): [codes: Uint8Array, rows: number, columns: number] {
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

/** The positions of the thumbnails. */
function measureTiles(grid: HTMLElement, thumbnails: Thumbnail[]): Tile[] {
  const ratio = window.devicePixelRatio || 1;
  const whole = (length: number) => Math.round(length * ratio) / ratio;
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

/** @param high the weight at the end of the colour scale */
export function drawThumbnails(
  page: Page,
  group: AttentionGroup,
  thumbnails: Thumbnail[],
  canvas: HTMLCanvasElement,
  high: number,
) {
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

function drawThumbnail(
  page: Page,
  context: CanvasRenderingContext2D,
  stamp: HTMLCanvasElement,
  { x, y, side }: Tile,
  off: boolean,
) {
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
