// Every thumbnail of the grid on one canvas, beneath the cells that take the clicks.
//
// With a canvas for each, the browser keeps a layer for each and one more for what lies above it, and puts all of them
// together anew in every frame: a letter typed took a quarter longer.

const FINEST = 80; // cells a side
const CORNER = 5; // pixels
const FAINT = 0.1; // how much is left of a head that is off

/** The byte codes of one head, straight out of the answer. */
function codesOf(self, grid, layer, head) {
  const size = grid.cells[0] * grid.cells[1];
  const from = grid.offset + (layer * grid.heads + head) * size;
  return self.answer.bytes.subarray(from, from + size);
}

/** No more cells than a thumbnail has pixels: the largest of each block. */
function pooled(codes, rows, columns) {
  if (rows <= FINEST && columns <= FINEST) return [codes, rows, columns];
  const [height, width] = [Math.min(rows, FINEST), Math.min(columns, FINEST)];
  const small = new Uint8Array(height * width);
  codes.forEach((code, cell) => {
    const row = Math.floor((Math.floor(cell / columns) * height) / rows);
    const place = row * width + Math.floor(((cell % columns) * width) / columns);
    if (code > small[place]) small[place] = code;
  });
  return [small, height, width];
}

/** Where each tile lies in the grid, in whole pixels of the screen; measured once for each arrangement. */
function tilesOf(self) {
  if (self.measured.tiles) return self.measured.tiles;
  const tiles = withoutThumbs(self, () => measureTiles(self));
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

function paintThumbs(self, grid) {
  const tiles = tilesOf(self);
  if (!tiles[0].side) return;
  const reach = (axis) => Math.max(...tiles.map((tile) => tile[axis] + tile.side));
  self.thumbsPaper ??= document.createElement("canvas");
  self.stamp ??= document.createElement("canvas");
  const context = sheet(self.thumbsPaper, reach("x"), reach("y"));
  context.imageSmoothingEnabled = false;
  self.cells.forEach((cell, place) => paintThumb(self, context, grid, cell, tiles[place]));
  putUp(self.thumbsPaper, self.thumbs);
}

function paintThumb(self, context, grid, cell, { x, y, side }) {
  const [layer, head] = [Number(cell.dataset.layer), Number(cell.dataset.head)];
  paintCodes(self.stamp, ...pooled(codesOf(self, grid, layer, head), ...grid.cells));
  context.save();
  context.beginPath();
  context.roundRect(x, y, side, side, CORNER);
  context.clip();
  context.fillStyle = styleNow(self).raised;
  context.fillRect(x, y, side, side);
  context.globalAlpha = isOff(self, grid, layer, head) ? FAINT : 1;
  context.drawImage(self.stamp, x, y, side, side);
  context.restore();
}
