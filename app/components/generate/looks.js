// What a step looked at: all heads as stripes, and the chosen one (or a mean) as a map, a row for each step.

const STRIPES = 48; // at most, in one thumbnail

function gridOf(self, record) {
  return record.grids.find(({ name }) => name === self.choice.attention) || record.grids[0];
}

function clampHere(self, grid) {
  self.choice.layer = Math.min(self.choice.layer, grid.layers - 1);
  self.choice.head = Math.min(self.choice.head, grid.heads - 1);
}

function headRow(record, grid, layer, head) {
  const from = grid.offset + (layer * grid.heads + head) * grid.columns;
  return record.numbers.subarray(from, from + grid.columns);
}

/** The weights that a step gave to each key: of one head, or the mean over a layer's heads, or over all. */
function rowOf(self, record, grid) {
  const { layer, head, blend } = self.choice;
  if (blend === "head") return headRow(record, grid, layer, head);
  const layers = blend === "layer" ? [layer] : Array.from({ length: grid.layers }, (_, each) => each);
  const sum = new Float64Array(grid.columns);
  for (const each of layers) {
    for (let other = 0; other < grid.heads; other++) headRow(record, grid, each, other).forEach((weight, key) => (sum[key] += weight));
  }
  return sum.map((weight) => weight / (layers.length * grid.heads));
}

function blendTitle({ blend, layer, head }) {
  return { head: `Layer ${layer} · Head ${head}`, layer: `Layer ${layer} · mean of its heads`, all: "Mean of all heads" }[blend];
}

function drawLooks(self) {
  const record = looked(self);
  const panel = self.parts.looks;
  const grid = record && !record.done ? gridOf(self, record) : null;
  panel.hidden = !grid;
  if (!grid) return;
  clampHere(self, grid);
  const { kinds, blend, looksTitle } = self.parts;
  kinds.hidden = record.grids.length < 2;
  drawChoices(self, kinds, "attention", record.grids.map(({ name, title }) => [name, title]), grid.name);
  drawChoices(self, blend, "blend", [["head", "One head"], ["layer", "Mean of layer"], ["all", "Mean of all"]]);
  looksTitle.textContent = `Where it looked: ${blendTitle(self.choice)}`;
  drawStripes(self, record, grid);
  paintLooks(self);
}

function drawStripes(self, record, grid) {
  const table = self.parts.grid;
  layTable(table, grid, () => [make("canvas")], (layer, head) => change(self, { layer, head, blend: "head" }));
  const width = Math.min(grid.columns, STRIPES);
  const { blend, layer: ours, head: own } = self.choice;
  eachHead(table, grid, (cell, layer, head) => {
    paintCodes(cell.firstChild, pooledCodes(headRow(record, grid, layer, head), width), 1, width);
    const part = blend === "layer" ? layer === ours : blend === "head" && layer === ours && head === own;
    markCell(cell, `Layer ${layer}, head ${head}`, part, layer === ours && head === own);
  });
}

function codeOf(weight) {
  return 1 + Math.round(254 * Math.sqrt(Math.min(Math.max(weight, 0), 1)));
}

/** The largest weight of each of `width` blocks, as byte codes. */
function pooledCodes(row, width) {
  const codes = new Uint8Array(width);
  row.forEach((weight, key) => {
    const block = Math.floor((key * width) / row.length);
    codes[block] = Math.max(codes[block], codeOf(weight));
  });
  return codes;
}

/** The steps whose answers are here, the looked-at one among them: their rows make the map. */
function mapRows(self) {
  const rows = [];
  const last = self.written.length;
  for (let index = 0; index <= last; index++) {
    const record = recordAt(self, index);
    const token = self.written[index];
    if (!record || record.done || (index === last && ended(self))) continue;
    rows.push({ index, record, piece: token ? token.piece : "next…", special: false });
  }
  return rows;
}

function paintLooks(self) {
  const record = looked(self);
  if (!record || record.done) return;
  const grid = gridOf(self, record);
  const rows = mapRows(self);
  const keys = grid.keys === "source" ? self.sourceTokens : textTokens(self);
  const here = rows.findIndex(({ index }) => index === (self.at ?? self.written.length));
  self.mapped = rows;
  const width = self.parts.stage.clientWidth;
  if (width && rows.length && here >= 0) {
    const image = (self.image ??= document.createElement("canvas"));
    paintCodes(image, mapCodes(self, rows, grid, keys.length), rows.length, keys.length);
    const picture = { queries: rows, keys, image, alpha: 1, hot: { query: here, key: self.key }, style: styleOf(self.parts.root) };
    self.map = drawMap(self.parts.map, width, picture);
  }
  describeLooks(self, record, grid, keys);
  shadePage(self);
}

function mapCodes(self, rows, grid, columns) {
  const codes = new Uint8Array(rows.length * columns);
  rows.forEach(({ record }, place) => {
    const own = record.grids.find(({ name }) => name === grid.name);
    rowOf(self, record, own).forEach((weight, key) => (codes[place * columns + key] = codeOf(weight)));
  });
  return codes;
}

/** The text that stands for the picture. */
function describeLooks(self, record, grid, keys) {
  const row = rowOf(self, record, grid);
  const taken = self.at === null ? null : self.written[self.at];
  const next = self.kind === "fill" ? `For the mask at position ${record.place}` : "For the next token";
  const whom = taken ? ["Before ", ...quote(taken), " was written"] : [next];
  const what = `${blendTitle(self.choice)} looked`;
  self.parts.map.setAttribute("aria-label", `${blendTitle(self.choice)}: a row for each token written, a column for each token read`);
  if (self.key !== null && keys[self.key] && self.key < row.length) {
    return self.parts.reading.replaceChildren(...whom, `, ${what} at `, ...quote(keys[self.key]), ` with a weight of ${row[self.key].toFixed(5)}.`);
  }
  const best = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, 3).filter((key) => row[key] > 0.005);
  const told = best.flatMap((key, place) => [place ? ", " : " at ", ...quote(keys[key]), ` ${percent(row[key])}`]);
  self.parts.reading.replaceChildren(...whom, `, ${what}`, ...(told.length ? told : [" at nothing"]), ".");
}

function listenLooks(self) {
  const { map } = self.parts;
  map.onmousemove = (event) => pointAt(self, cellUnder(map, self.map, event)?.key ?? null);
  map.onmouseleave = () => pointAt(self, null);
  map.onclick = (event) => {
    const row = self.mapped?.[cellUnder(map, self.map, event)?.query];
    if (row) lookAt(self, row.index < self.written.length ? row.index : null);
  };
  map.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const index = Math.min(Math.max((self.at ?? self.written.length) + step, 0), self.written.length);
    lookAt(self, index < self.written.length ? index : null).then(() => map.focus());
  };
}
