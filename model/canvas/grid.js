// All heads as thumbnails: layer by layer, or in the order of what they do.

const SMALLEST = 24; // pixels of a thumbnail; past that the grid scrolls
const LARGEST = 92;
const HEIGHT = 440; // pixels that the thumbnails of all layers should not need more of

/** Every metric of every head, layer after layer; null while a long text's are on their way. */
function metricsOf(self, grid) {
  return grid.metrics || wanted(self, "metrics", { attention: grid.name }, 120)?.meta.metrics || null;
}

/** The heads in the order in which they are shown, and whether that is by a metric. */
function orderOf(self, grid) {
  const heads = Array.from({ length: grid.layers }, (_, layer) => layerHeads(grid, layer)).flat();
  const values = self.choice.sort === "layer" ? null : metricsOf(self, grid)?.[self.choice.sort];
  if (!values) return { heads, values: null };
  const rank = ([layer, head]) => values[layer * grid.heads + head] ?? -Infinity;
  return { heads: heads.sort((one, other) => rank(other) - rank(one)), values };
}

function thumbnail() {
  const cell = make("div", "thumb");
  cell.setAttribute("role", "gridcell");
  const tile = make("div", "tile");
  tile.append(dot());
  cell.append(tile, make("span", "rank"));
  return cell;
}

function dot() {
  const button = make("button", "dot");
  button.type = "button";
  button.tabIndex = -1;
  return button;
}

/** A layer's number collects its heads, the dot beside it switches them. */
function layerLabel(layer) {
  const label = make("div", "label");
  label.setAttribute("role", "rowheader");
  const name = make("button", "name", layer);
  name.type = "button";
  name.tabIndex = -1;
  name.title = `Collect all heads of layer ${layer}`;
  name.dataset.layer = layer;
  name.dataset.testid = `layer-${layer}`;
  const off = dot();
  off.dataset.layer = layer;
  off.dataset.testid = `switch-layer-${layer}`;
  label.append(name, off);
  return label;
}

function row(...children) {
  const element = make("div", "row");
  element.setAttribute("role", "row");
  element.append(...children);
  return element;
}

/** Lays the thumbnails out anew only when their number or order of kind changes; painting them is another matter. */
function layGrid(self, grid, ranked) {
  const table = self.parts.grid;
  const width = widthOf(self, "grid") || 380;
  const gap = grid.heads > 16 ? 2 : 4;
  const room = Math.min((width - 40) / grid.heads - gap, HEIGHT / grid.layers - gap, LARGEST);
  const cell = Math.max(Math.floor(room), SMALLEST);
  table.style.setProperty("--heads", grid.heads);
  table.style.setProperty("--gap", `${gap}px`);
  table.style.setProperty("--cell", `${cell}px`);
  if (self.cell !== cell) self.measured.tiles = null;
  self.cell = cell;
  const shape = `${grid.name} ${grid.layers}x${grid.heads} ${ranked}`;
  if (self.shape === shape) return;
  self.shape = shape;
  self.measured.tiles = null;
  self.thumbs = make("canvas", "thumbs");
  self.thumbs.setAttribute("aria-hidden", "true");
  self.cells = Array.from({ length: grid.layers * grid.heads }, thumbnail);
  table.classList.toggle("by-metric", ranked);
  if (ranked) return table.replaceChildren(self.thumbs, row(...self.cells));
  const top = make("div", "row top");
  top.setAttribute("aria-hidden", "true");
  top.append(make("span", "corner", "layer"), ...Array.from({ length: grid.heads }, (_, head) => make("span", "", head)));
  const layers = Array.from({ length: grid.layers }, (_, layer) =>
    row(layerLabel(layer), ...self.cells.slice(layer * grid.heads, (layer + 1) * grid.heads)),
  );
  table.replaceChildren(self.thumbs, top, ...layers);
}

function thumbAt(self, layer, head) {
  return self.cells.find((cell) => Number(cell.dataset.layer) === layer && Number(cell.dataset.head) === head);
}

function paintGrid(self) {
  const grid = currentGrid(self);
  const { heads, values } = orderOf(self, grid);
  const focused = self.parts.grid.contains(self.parts.grid.getRootNode().activeElement);
  layGrid(self, grid, Boolean(values));
  heads.forEach(([layer, head], place) => {
    const cell = self.cells[place];
    cell.dataset.layer = layer;
    cell.dataset.head = head;
    cell.dataset.testid = `head-${layer}-${head}`;
    cell.firstChild.firstChild.dataset.testid = `switch-${layer}-${head}`;
    cell.lastChild.replaceChildren(...(values ? rankedValue(self, layer, head, values[layer * grid.heads + head]) : []));
  });
  paintThumbs(self, grid);
  if (focused) thumbAt(self, ...focusedHead(self))?.focus();
}

function rankedValue(self, layer, head, value) {
  return [make("b", "", `L${layer} H${head}`), make("span", "", metricText(self, self.choice.sort, value))];
}

/** A metric as a reader wants it: shares in percent, all else with its unit. */
function metricText(self, name, value) {
  if (value === null || value === undefined) return "–";
  const { unit } = self.metrics.find((metric) => metric.name === name) || {};
  return unit ? `${value.toFixed(2)} ${unit}` : percent(value);
}

function focusedHead(self) {
  return self.focus || [self.choice.layer, self.choice.head];
}

/** Marks the chosen and collected heads, and the ones that are off. */
function markGrid(self) {
  const grid = currentGrid(self);
  const [focusLayer, focusHead] = focusedHead(self);
  let faded = false;
  for (const cell of self.cells) {
    const [layer, head] = [Number(cell.dataset.layer), Number(cell.dataset.head)];
    const chosen = layer === self.choice.layer && head === self.choice.head;
    const collected = isCollected(self, layer, head);
    const off = isOff(self, grid, layer, head);
    cell.classList.toggle("chosen", chosen);
    cell.classList.toggle("collected", collected);
    faded ||= cell.classList.contains("off") !== off;
    cell.classList.toggle("off", off);
    cell.setAttribute("aria-selected", String(chosen || collected));
    cell.setAttribute("aria-label", `Layer ${layer}, head ${head}${collected ? ", collected" : ""}${off ? ", off" : ""}`);
    cell.title = `Layer ${layer}, head ${head}${off ? " (off)" : ""}`;
    cell.tabIndex = layer === focusLayer && head === focusHead ? 0 : -1;
    markDot(cell.firstChild.firstChild, off, `head ${head} of layer ${layer}`);
  }
  if (faded) paintThumbs(self, grid);
  chosenHeads(self).forEach((one, place) => {
    thumbAt(self, ...one)?.style.setProperty("--mine", HEAD_COLOURS[place % HEAD_COLOURS.length]);
  });
  for (const off of self.parts.grid.querySelectorAll(".label .dot")) {
    const layer = Number(off.dataset.layer);
    const all = headsOff(self, grid, layer).length === grid.heads;
    off.classList.toggle("is-off", all);
    markDot(off, all, `all heads of layer ${layer}`);
  }
}

function markDot(button, off, what) {
  button.setAttribute("aria-label", `Switch ${what} ${off ? "on" : "off"}`);
  button.title = `Switch ${what} ${off ? "on" : "off"}`;
}

function clickGrid(self, event) {
  const [off, name, cell] = [".dot", ".name", ".thumb"].map((part) => event.target.closest(part));
  const grid = currentGrid(self);
  if (off && !cell) return toggleHeads(self, layerHeads(grid, Number(off.dataset.layer)));
  if (name) return collectLayer(self, Number(name.dataset.layer));
  if (!cell) return;
  const [layer, head] = [Number(cell.dataset.layer), Number(cell.dataset.head)];
  if (off) toggleHeads(self, [[layer, head]]);
  else if (event.altKey) change(self, { view: "head", versus: headName([layer, head]) });
  else chooseHead(self, layer, head, event.shiftKey || event.ctrlKey || event.metaKey);
}

const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

/** The head that lies a step away from the focused one, as they are shown. */
function neighbour(self, grid, [down, right]) {
  const [layer, head] = focusedHead(self);
  const clamp = (value, most) => Math.min(Math.max(value, 0), most - 1);
  if (!self.parts.grid.classList.contains("by-metric")) return [clamp(layer + down, grid.layers), clamp(head + right, grid.heads)];
  const tops = self.cells.map((cell) => cell.offsetTop);
  const across = Math.max(tops.filter((top) => top === tops[0]).length, 1);
  const cell = self.cells[clamp(self.cells.indexOf(thumbAt(self, layer, head)) + down * across + right, self.cells.length)];
  return [Number(cell.dataset.layer), Number(cell.dataset.head)];
}

/** Arrows choose, with Ctrl or while heads are collected they only walk; Shift+Enter collects, l a layer; o and O switch. */
function walkGrid(self, event) {
  if (event.target.closest("button")) return;
  const grid = currentGrid(self);
  const [layer, head] = focusedHead(self);
  if (STEPS[event.key]) {
    const next = neighbour(self, grid, STEPS[event.key]);
    if (event.ctrlKey || self.choice.heads.length) {
      self.focus = next;
      markGrid(self);
    } else chooseHead(self, ...next);
    thumbAt(self, ...next).focus();
  } else if ((event.key === "Enter" || event.key === " ") && event.shiftKey) chooseHead(self, layer, head, true);
  else if (event.key === "Enter") chooseHead(self, layer, head);
  else if (event.key === " " || event.key === "o") toggleHeads(self, [[layer, head]]);
  else if (event.key === "l") collectLayer(self, layer);
  else if (event.key === "O") toggleHeads(self, layerHeads(grid, layer));
  else if (event.key === "Escape" && self.choice.heads.length) change(self, { heads: [] });
  else return;
  event.preventDefault();
}
