// The chosen head, large: a map of queries by keys, painted from the grid's own bytes until the exact numbers are here.

/** The query that pictures and predictions speak of: the chosen one, else the first masked token, else the last. */
function queryPosition(self) {
  const tokens = queryTokens(self);
  const { query } = self.choice;
  if (query >= 0 && query < tokens.length) return query;
  const masked = self.answer.maskable ? tokens.findIndex((token) => token.masked) : -1;
  return masked >= 0 ? masked : tokens.length - 1;
}

function queryTokens(self) {
  const { tokens, sourceTokens } = self.answer;
  return currentGrid(self).queries === "source" ? sourceTokens : tokens;
}

function keyTokens(self) {
  const { tokens, sourceTokens } = self.answer;
  return currentGrid(self).keys === "source" ? sourceTokens : tokens;
}

/** One weight of the chosen head: exact where it is here, else from its byte; NaN where attending is forbidden. */
function weightAt(self, query, key) {
  const grid = currentGrid(self);
  const rows = Math.max(grid.rows, 1);
  const columns = Math.max(grid.columns, 1);
  const row = Math.min(Math.floor((query * grid.cells[0]) / rows), grid.cells[0] - 1);
  const column = Math.min(Math.floor((key * grid.cells[1]) / columns), grid.cells[1] - 1);
  const code = codesOf(self, grid, self.choice.layer, self.choice.head)[row * grid.cells[1] + column];
  if (code === 0 || self.choice.view !== "weights") return weightOf(code);
  const exact = exactNumbers(self);
  return exact ? exact.numbers[query * exact.columns + key] : weightOf(code);
}

/** The picture to paint: byte codes and their shape. Scores have codes of their own, from lowest to highest. */
function pictureCodes(self) {
  const grid = currentGrid(self);
  const codes = codesOf(self, grid, self.choice.layer, self.choice.head);
  const exact = exactNumbers(self);
  if (!exact) return { codes, rows: grid.cells[0], columns: grid.cells[1], ready: self.choice.view === "weights" };
  const allowed = (index) => !Number.isNaN(weightAt(self, Math.floor(index / exact.columns), index % exact.columns));
  const seen = exact.numbers.filter((number, index) => Number.isFinite(number) && allowed(index));
  const low = self.choice.view === "weights" ? 0 : seen.reduce((a, b) => Math.min(a, b), Infinity);
  const high = self.choice.view === "weights" ? 1 : seen.reduce((a, b) => Math.max(a, b), -Infinity);
  const shaped = self.choice.view === "weights" ? Math.sqrt : (share) => share;
  const fresh = Uint8Array.from(exact.numbers, (number, index) =>
    allowed(index) ? 1 + Math.round(254 * shaped(Math.min(Math.max((number - low) / (high - low || 1), 0), 1))) : 0,
  );
  return { codes: fresh, rows: exact.rows, columns: exact.columns, ready: true, low, high };
}

/** Sizes the canvas for the screen's own pixels and hands out its context, cleared. */
function sheet(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function styleOf(self) {
  const style = getComputedStyle(self.parts.root);
  const read = (name) => style.getPropertyValue(name).trim();
  return { ink: style.color, quiet: read("--quiet"), line: read("--line"), beam: read("--beam"), font: style.fontFamily };
}

function shorten(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  const letters = [...text];
  while (letters.length > 1 && context.measureText(`${letters.join("")}…`).width > width) letters.pop();
  return `${letters.join("")}…`;
}

function paintHead(self) {
  if (!self.answer || !currentGrid(self)) return;
  const width = self.parts.stage.clientWidth;
  if (width) (self.choice.picture === "lines" ? paintLines : paintMap)(self, width);
  describeHead(self);
  shadeTokens(self);
}

function measureMap(context, self, width) {
  const rows = queryTokens(self).length;
  const columns = keyTokens(self).length;
  const size = rows > 28 || columns > 28 ? 10 : 12;
  context.font = `${size}px ${self.style.font}`;
  const longest = (tokens) => Math.max(...tokens.map((token) => context.measureText(spoken(token.piece)).width), 8);
  const left = Math.min(longest(queryTokens(self)) + 12, width * 0.26, 110);
  const top = Math.min(longest(keyTokens(self)) + 10, 84);
  const cell = Math.min((width - left - 2) / columns, Math.max(430 - top, 240) / Math.max(rows, columns / 1.6), 40);
  return { rows, columns, size, left, top, cell };
}

function paintMap(self, width) {
  const canvas = self.parts.canvas;
  self.style = styleOf(self);
  const probe = canvas.getContext("2d");
  const map = measureMap(probe, self, width);
  const context = sheet(canvas, width, Math.ceil(map.top + map.cell * map.rows + 4));
  const picture = pictureCodes(self);
  const small = (self.small ??= document.createElement("canvas"));
  paintCodes(small, picture.codes, picture.rows, picture.columns);
  context.imageSmoothingEnabled = false;
  context.globalAlpha = picture.ready ? 1 : 0.25;
  context.drawImage(small, map.left, map.top, map.cell * map.columns, map.cell * map.rows);
  context.globalAlpha = 1;
  self.map = map;
  separateCells(context, self, map);
  nameAxes(context, self, map);
  markCells(context, self, map);
}

/** Thin lines of the background between large cells, so that single weights can be told apart. */
function separateCells(context, self, map) {
  if (map.cell < 9) return;
  context.fillStyle = getComputedStyle(self.parts.root).getPropertyValue("--surface");
  for (let row = 1; row < map.rows; row++) context.fillRect(map.left, map.top + row * map.cell - 0.5, map.cell * map.columns, 1);
  for (let key = 1; key < map.columns; key++) context.fillRect(map.left + key * map.cell - 0.5, map.top, 1, map.cell * map.rows);
}

function nameAxes(context, self, map) {
  const { quiet, ink, font } = self.style;
  const hot = self.hovered || { query: queryPosition(self), key: null };
  const every = Math.max(Math.ceil((map.size + 1) / map.cell), 1);
  context.font = `${map.size}px ${font}`;
  context.textBaseline = "middle";
  queryTokens(self).forEach((token, row) => {
    if (row % every && row !== hot.query) return;
    context.textAlign = "right";
    context.fillStyle = row === hot.query ? ink : quiet;
    context.fillText(shorten(context, spoken(token.piece), map.left - 10), map.left - 6, map.top + (row + 0.5) * map.cell);
  });
  keyTokens(self).forEach((token, key) => {
    if (key % every && key !== hot.key) return;
    context.save();
    context.translate(map.left + (key + 0.5) * map.cell, map.top - 6);
    context.rotate(-Math.PI / 2);
    context.textAlign = "left";
    context.fillStyle = key === hot.key ? ink : quiet;
    context.fillText(shorten(context, spoken(token.piece), map.top - 8), 0, 0);
    context.restore();
  });
}

/** Frames the row of the query at hand, and the cell under the pointer. */
function markCells(context, self, map) {
  const hot = self.hovered || { query: queryPosition(self), key: null };
  context.lineWidth = 1.5;
  context.strokeStyle = self.style.beam;
  context.strokeRect(map.left, map.top + hot.query * map.cell, map.cell * map.columns, map.cell);
  if (hot.key === null || hot.key === undefined) return;
  context.strokeStyle = self.style.ink;
  context.strokeRect(map.left + hot.key * map.cell, map.top + hot.query * map.cell, map.cell, map.cell);
}

/** Which cell of the map lies under the pointer, or null. */
function cellUnder(self, event) {
  if (!self.map) return null;
  const frame = self.parts.canvas.getBoundingClientRect();
  const key = Math.floor((event.clientX - frame.left - self.map.left) / self.map.cell);
  const query = Math.floor((event.clientY - frame.top - self.map.top) / self.map.cell);
  const inside = key >= 0 && key < self.map.columns && query >= 0 && query < self.map.rows;
  return inside ? { query, key } : null;
}
