// Every number of the picture, to read, to copy, and to save.

const PAGE = 32; // rows and columns on the screen at a time; copies and files hold all

function drawTable(self, view) {
  const { sheet } = self.parts;
  if (self.tabled !== view || self.turned) {
    if (self.tabled?.rows.names.length !== view.rows.names.length) self.corner = null;
    self.tabled = view;
    self.turned = false;
    self.corner ??= { rows: pageOf(rowsAtHand(self, view)[0] ?? 0), columns: 0 };
    refill(sheet, tableTools(self, view), tableOf(self, view));
  }
  markTable(self, view);
}

function pageOf(line) {
  return Math.floor(line / PAGE) * PAGE;
}

function tableTools(self, view) {
  const tools = make("div", "sheet-tools");
  const copy = make("button", "small", "Copy");
  const save = make("button", "small", "CSV");
  copy.dataset.testid = "copy-table";
  save.dataset.testid = "save-table";
  copy.title = "Copy all numbers, to paste into a spreadsheet";
  save.title = "Save all numbers as a file";
  copy.onclick = () => copyText(copy, rowsOfText(view).map((line) => line.map(visibleCell).join("\t")).join("\n"));
  save.onclick = () => saveFile(`${fileName(self)}.csv`, "text/csv", rowsOfText(view).map((line) => line.map(csvCell).join(",")).join("\r\n"));
  for (const button of [copy, save]) Object.assign(button, { type: "button", disabled: !view.exact });
  tools.append(copy, save, pager(self, view, "rows", "queries"), pager(self, view, "columns", "keys"));
  return tools;
}

/** Turns pages where the text is longer than one. */
function pager(self, view, side, title) {
  const count = view[side].names.length;
  const box = make("span", "pager");
  if (count <= PAGE) return box;
  const from = self.corner[side];
  const turn = (sign, step) => {
    const button = make("button", "small", sign);
    Object.assign(button, { type: "button", disabled: step < 0 ? from === 0 : from + PAGE >= count });
    button.setAttribute("aria-label", `${step < 0 ? "Earlier" : "Later"} ${title}`);
    button.onclick = () => {
      self.corner[side] = Math.max(from + step, 0);
      self.turned = true;
      drawTable(self, view);
    };
    return button;
  };
  box.append(turn("‹", -PAGE), `${title} ${from}–${Math.min(from + PAGE, count) - 1} of ${count}`, turn("›", PAGE));
  return box;
}

function tableOf(self, view) {
  const lines = (side) => view[side].names.map((_, line) => line).slice(self.corner[side], self.corner[side] + PAGE);
  const table = make("table");
  const top = make("tr");
  const power = powerOf(view);
  top.append(make("td", "corner", power ? `times 10${raised(power)}` : "query ↓ key →"), ...lines("columns").map((column) => heading("col", view.columns.names[column], column)));
  const head = make("thead");
  head.append(top);
  const body = make("tbody");
  body.append(...lines("rows").map((row) => tableRow(view, row, lines("columns"))));
  table.append(head, body);
  return table;
}

function heading(scope, name, line) {
  const cell = make("th");
  cell.scope = scope;
  cell.dataset[scope] = line;
  cell.append(make("bdi", "", spoken(name)));
  cell.title = `${line} ${visible(name)}`;
  return cell;
}

function tableRow(view, row, columns) {
  const line = make("tr");
  line.dataset.row = row;
  line.append(heading("row", view.rows.names[row], row), ...columns.map((column) => tableCell(view, row, column)));
  return line;
}

function tableCell(view, row, column) {
  const state = stateAt(view, row, column);
  const number = numberAt(view, row, column);
  const cell = make("td", state === SHOWN ? "" : "none", state === SHOWN ? shortNumber(view, number) : state === LEFT_OUT ? "·" : "");
  cell.dataset.col = column;
  if (state !== SHOWN) return cell;
  cell.style.setProperty("--shade", `${Math.round(Math.sqrt(strengthOf(view, number)) * 80)}%`);
  if (view.signed && number < 0) cell.style.setProperty("--tint", BELOW);
  return cell;
}

/** Small numbers share a power of ten, which stands in the corner. */
function powerOf(view) {
  const most = Math.max(Math.abs(view.low), Math.abs(view.high));
  return view.scale !== "share" && most > 0 && most < 0.0995 ? Math.floor(Math.log10(most)) : 0;
}

function raised(power) {
  return [...String(power)].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻").join("");
}

function shortNumber(view, number) {
  if (view.scale === "share") return number.toFixed(3).replace(/^0/, "");
  const size = (Math.abs(number) / 10 ** powerOf(view)).toFixed(2);
  return number < 0 && size !== "0.00" ? `−${size}` : size;
}

function markTable(self, view) {
  const rows = rowsAtHand(self, view);
  const column = hoveredColumn(self, view);
  const table = self.parts.sheet.querySelector("table");
  for (const cell of table.querySelectorAll(".hot")) cell.classList.remove("hot");
  for (const row of rows) table.querySelector(`tr[data-row="${row}"]`)?.classList.add("hot");
  if (column === undefined) return;
  table.querySelector(`th[data-col="${column}"]`)?.classList.add("hot");
  for (const row of rows) table.querySelector(`tr[data-row="${row}"] td[data-col="${column}"]`)?.classList.add("hot");
}

function underTable(self, event) {
  const cell = event.target.closest("td, th");
  if (!cell || !self.parts.sheet.contains(cell)) return null;
  const row = cell.closest("tr").dataset.row;
  const column = cell.dataset.col;
  if (row === undefined && column === undefined) return null;
  const place = tokensOf(self.shown, Number(row), Number(column));
  return { query: row === undefined ? null : place.query, key: column === undefined ? null : place.key };
}

/** All of the picture as rows of text: names first, numbers with all their digits; what is not shown is empty. */
function rowsOfText(view) {
  const number = (row, column) => (stateAt(view, row, column) === SHOWN ? String(Number(numberAt(view, row, column).toPrecision(8))) : "");
  const { names } = view.columns;
  return [["", ...names], ...view.rows.names.map((name, row) => [name, ...names.map((_, column) => number(row, column))])];
}

function csvCell(text) {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** For a sheet that is pasted into, where tabs and line breaks part the cells. */
function visibleCell(text) {
  return text.replace(/\n/g, "⏎").replace(/\t/g, "→");
}

function fileName(self) {
  const heads = chosenHeads(self).map(([layer, head]) => `layer${layer}-head${head}`);
  return [...heads.slice(0, 4), self.choice.view].join("-");
}
