// Every thumbnail of the grid on one canvas, beneath the cells that take the clicks.
//
// With a canvas for each, the browser keeps a layer for each and one more for what lies above it, and puts all of them
// together anew in every frame: a letter typed took a quarter longer.

import { headCodes } from "../state/head_matrix.js";
import { isOff } from "../state/head_selection.js";
import { paintCodes } from "../ui/colours.js";
import { blit, hidpiContext } from "../ui/dom.js";
import { currentStyle, measureWithoutThumbnails } from "./measurements.js";

const MAX_CELLS = 80; // cells a side
const CORNER_RADIUS = 5; // pixels
const OFF_OPACITY = 0.1;


/** No more cells than a thumbnail has pixels: the largest of each block. */
function maxPool(codes, rows, columns) {
  if (rows <= MAX_CELLS && columns <= MAX_CELLS) return [codes, rows, columns];
  const [height, width] = [Math.min(rows, MAX_CELLS), Math.min(columns, MAX_CELLS)];
  const small = new Uint8Array(height * width);
  codes.forEach((code, cell) => {
    const row = Math.floor((Math.floor(cell / columns) * height) / rows);
    const place = row * width + Math.floor(((cell % columns) * width) / columns);
    if (code > small[place]) small[place] = code;
  });
  return [small, height, width];
}

/** Where each tile lies in the grid, in whole pixels of the screen; measured once for each arrangement. */
function thumbnailTiles(self) {
  if (self.measured.tiles) return self.measured.tiles;
  const tiles = measureWithoutThumbnails(self, () => measureTiles(self));
  if (tiles[0].side) self.measured.tiles = tiles; // a closed room has no size yet
  return tiles;
}

function measureTiles(self) {
  const table = self.parts.grid;
  const ratio = window.devicePixelRatio || 1;
  const whole = (length) => Math.round(length * ratio) / ratio;
  const { left, top } = table.getBoundingClientRect();
  return self.cells.map((cell) => {
    const box = cell.firstChild.getBoundingClientRect();
    return { x: whole(box.left - left + table.scrollLeft), y: whole(box.top - top + table.scrollTop), side: whole(box.width) };
  });
}

export function drawThumbnails(self, grid) {
  const tiles = thumbnailTiles(self);
  if (!tiles[0].side) return;
  const reach = (axis) => Math.max(...tiles.map((tile) => tile[axis] + tile.side));
  self.thumbsPaper ??= document.createElement("canvas");
  self.stamp ??= document.createElement("canvas");
  const context = hidpiContext(self.thumbsPaper, reach("x"), reach("y"));
  context.imageSmoothingEnabled = false;
  self.cells.forEach((cell, place) => drawThumbnail(self, context, grid, cell, tiles[place]));
  blit(self.thumbsPaper, self.thumbs);
}

function drawThumbnail(self, context, grid, cell, { x, y, side }) {
  const [layer, head] = [Number(cell.dataset.layer), Number(cell.dataset.head)];
  paintCodes(self.stamp, ...maxPool(headCodes(self, grid, layer, head), ...grid.cells));
  context.save();
  context.beginPath();
  context.roundRect(x, y, side, side, CORNER_RADIUS);
  context.clip();
  context.fillStyle = currentStyle(self).raised;
  context.fillRect(x, y, side, side);
  context.globalAlpha = isOff(self, grid, layer, head) ? OFF_OPACITY : 1;
  context.drawImage(self.stamp, x, y, side, side);
  context.restore();
}
