// All heads of all layers as thumbnails: a click chooses, the dot switches off, arrow keys walk.

function currentGrid(self) {
  const grids = self.answer?.grids || [];
  return grids.find((grid) => grid.name === self.choice.attention) || grids[0];
}

function offEdit(grid, layer, head) {
  return `${grid.stack}.${layer}.${grid.kind}.weights[${head}]=set:0`;
}

function isOff(self, grid, layer, head) {
  return self.choice.edits.includes(offEdit(grid, layer, head));
}

function toggleHead(self, layer, head) {
  const edit = offEdit(currentGrid(self), layer, head);
  const others = self.choice.edits.filter((other) => other !== edit);
  change(self, { edits: others.length === self.choice.edits.length ? [...others, edit] : others });
}

function thumbnail(self, grid, layer, head) {
  const cell = make("div", "thumb");
  cell.setAttribute("role", "gridcell");
  cell.dataset.testid = `head-${layer}-${head}`;
  const picture = make("canvas");
  const dot = make("button", "dot");
  dot.type = "button";
  dot.tabIndex = -1;
  dot.dataset.testid = `switch-${layer}-${head}`;
  dot.onclick = (event) => {
    event.stopPropagation();
    toggleHead(self, layer, head);
  };
  cell.onclick = () => change(self, { layer, head });
  cell.append(picture, dot);
  return cell;
}

function shapeOf(grid) {
  return `${grid.name} ${grid.layers}x${grid.heads}`;
}

/** Lays the thumbnails out anew only when their number changes; painting them is another matter. */
function layGrid(self, grid) {
  if (self.shape === shapeOf(grid)) return;
  self.shape = shapeOf(grid);
  const table = self.parts.grid;
  table.style.setProperty("--heads", grid.heads);
  const top = make("div", "row");
  top.setAttribute("aria-hidden", "true");
  top.append(make("span", "corner", "L\\H"), ...Array.from({ length: grid.heads }, (_, head) => make("span", "", head)));
  const rows = Array.from({ length: grid.layers }, (_, layer) => {
    const row = make("div", "row");
    row.setAttribute("role", "row");
    row.append(make("span", "", layer), ...Array.from({ length: grid.heads }, (_, head) => thumbnail(self, grid, layer, head)));
    return row;
  });
  table.replaceChildren(top, ...rows);
  table.onkeydown = (event) => walkGrid(self, event);
}

function walkGrid(self, event) {
  const grid = currentGrid(self);
  const { layer, head } = self.choice;
  const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
  if (step) {
    change(self, {
      layer: Math.min(Math.max(layer + step[0], 0), grid.layers - 1),
      head: Math.min(Math.max(head + step[1], 0), grid.heads - 1),
    });
    thumbAt(self, self.choice.layer, self.choice.head).focus();
  } else if (event.key === " " || event.key === "o") {
    toggleHead(self, layer, head);
  } else return;
  event.preventDefault();
}

function thumbAt(self, layer, head) {
  return self.parts.grid.children[layer + 1].children[head + 1];
}

/** The byte codes of one head, straight out of the answer. */
function codesOf(self, grid, layer, head) {
  const size = grid.cells[0] * grid.cells[1];
  const from = grid.offset + (layer * grid.heads + head) * size;
  return self.answer.bytes.subarray(from, from + size);
}

function paintGrid(self) {
  const grid = currentGrid(self);
  layGrid(self, grid);
  for (let layer = 0; layer < grid.layers; layer++) {
    for (let head = 0; head < grid.heads; head++) {
      paintCodes(thumbAt(self, layer, head).firstChild, codesOf(self, grid, layer, head), ...grid.cells);
    }
  }
}

/** Marks the chosen head and the ones that are off. */
function markGrid(self) {
  const grid = currentGrid(self);
  for (let layer = 0; layer < grid.layers; layer++) {
    for (let head = 0; head < grid.heads; head++) {
      const cell = thumbAt(self, layer, head);
      const chosen = layer === self.choice.layer && head === self.choice.head;
      const off = isOff(self, grid, layer, head);
      cell.classList.toggle("chosen", chosen);
      cell.classList.toggle("off", off);
      cell.setAttribute("aria-selected", String(chosen));
      cell.setAttribute("aria-label", `Layer ${layer}, head ${head}${off ? ", off" : ""}`);
      cell.title = `Layer ${layer}, head ${head}${off ? " (off)" : ""}`;
      cell.tabIndex = chosen ? 0 : -1;
      cell.lastChild.setAttribute("aria-label", `Switch head ${head} of layer ${layer} ${off ? "on" : "off"}`);
      cell.lastChild.title = off ? "Switch on" : "Switch off";
    }
  }
}
