// A table of all heads, layers downwards: a click or the arrow keys choose one. What a cell shows is painted by others.

/** Lays a table out where its shape has changed. `self` holds for each table what was laid; `choose(layer, head)` is told. */
function layTable(table, { name, layers, heads }, fill, choose) {
  const shape = `${name} ${layers}x${heads}`;
  table.choose = choose;
  if (table.dataset.shape === shape) return;
  table.dataset.shape = shape;
  table.style.setProperty("--heads", heads);
  const top = make("div", "row");
  top.setAttribute("aria-hidden", "true");
  top.append(make("span", "corner", "L\\H"), ...Array.from({ length: heads }, (_, head) => make("span", "", head)));
  const rows = Array.from({ length: layers }, (_, layer) => {
    const row = make("div", "row");
    row.setAttribute("role", "row");
    const cells = Array.from({ length: heads }, (_, head) => {
      const cell = make("div", "head-cell");
      cell.setAttribute("role", "gridcell");
      cell.dataset.testid = `${table.dataset.testid}-${layer}-${head}`;
      cell.append(...fill());
      cell.onclick = () => table.choose(layer, head);
      return cell;
    });
    row.append(make("span", "", layer), ...cells);
    return row;
  });
  refill(table, top, ...rows);
  table.onkeydown = (event) => walkTable(table, layers, heads, event);
}

function tableCell(table, layer, head) {
  return table.children[layer + 1].children[head + 1];
}

/** Visits every cell: `each(cell, layer, head)`. */
function eachHead(table, { layers, heads }, each) {
  for (let layer = 0; layer < layers; layer++) {
    for (let head = 0; head < heads; head++) each(tableCell(table, layer, head), layer, head);
  }
}

/** Names a cell, and says whether it is chosen. `focus`: whether the tab key lands on it. */
function markCell(cell, label, chosen, focus = chosen) {
  cell.classList.toggle("chosen", chosen);
  cell.setAttribute("aria-selected", String(chosen));
  cell.setAttribute("aria-label", label);
  cell.title = label;
  cell.tabIndex = focus ? 0 : -1;
}

function walkTable(table, layers, heads, event) {
  const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
  const cell = event.target.closest(".head-cell");
  if (!step || !cell) return;
  event.preventDefault();
  const at = cell.dataset.testid.split("-").slice(-2).map(Number);
  const layer = Math.min(Math.max(at[0] + step[0], 0), layers - 1);
  const head = Math.min(Math.max(at[1] + step[1], 0), heads - 1);
  table.choose(layer, head);
  tableCell(table, layer, head).focus();
}
