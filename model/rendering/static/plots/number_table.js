// Every number of the picture, to read, to copy, and to save.

import { LEFT_OUT, SHOWN, magnitude, stateAt, tokensAt, valueAt } from "../state/head_matrix.js";
import { selectedHeads } from "../state/head_selection.js";
import { activeRows, hoveredColumn } from "../state/token_selection.js";
import { copyText, saveFile } from "../ui/clipboard.js";
import { NEGATIVE_COLOUR } from "../ui/colours.js";
import { createElement, inlineText, updateChildren, visibleText } from "../ui/dom.js";

const PAGE_SIZE = 32; // rows and columns on the screen at a time; copies and files hold all

export function drawTable(self, view) {
  const { sheet } = self.parts;
  if (self.tabled !== view || self.turned) {
    if (self.tabled?.rows.names.length !== view.rows.names.length) self.corner = null;
    self.tabled = view;
    self.turned = false;
    self.corner ??= { rows: pageStart(activeRows(self, view)[0] ?? 0), columns: 0 };
    updateChildren(sheet, createToolbar(self, view), createTable(self, view));
  }
  markTable(self, view);
}

function pageStart(line) {
  return Math.floor(line / PAGE_SIZE) * PAGE_SIZE;
}

function createToolbar(self, view) {
  const tools = createElement("div", "sheet-tools");
  const copy = createElement("button", "small", "Copy");
  const save = createElement("button", "small", "CSV");
  copy.dataset.testid = "copy-table";
  save.dataset.testid = "save-table";
  copy.title = "Copy all numbers, to paste into a spreadsheet";
  save.title = "Save all numbers as a file";
  copy.onclick = () => copyText(copy, matrixAsText(view).map((line) => line.map(tsvCell).join("\t")).join("\n"));
  save.onclick = () => saveFile(`${fileName(self)}.csv`, "text/csv", matrixAsText(view).map((line) => line.map(csvCell).join(",")).join("\r\n"));
  for (const button of [copy, save]) Object.assign(button, { type: "button", disabled: !view.exact });
  tools.append(copy, save, createPager(self, view, "rows", "queries"), createPager(self, view, "columns", "keys"));
  return tools;
}

/** Turns pages where the text is longer than one. */
function createPager(self, view, side, title) {
  const count = view[side].names.length;
  const box = createElement("span", "pager");
  if (count <= PAGE_SIZE) return box;
  const from = self.corner[side];
  const turn = (sign, step) => {
    const button = createElement("button", "small", sign);
    Object.assign(button, { type: "button", disabled: step < 0 ? from === 0 : from + PAGE_SIZE >= count });
    button.setAttribute("aria-label", `${step < 0 ? "Earlier" : "Later"} ${title}`);
    button.onclick = () => {
      self.corner[side] = Math.max(from + step, 0);
      self.turned = true;
      drawTable(self, view);
    };
    return button;
  };
  box.append(turn("‹", -PAGE_SIZE), `${title} ${from}–${Math.min(from + PAGE_SIZE, count) - 1} of ${count}`, turn("›", PAGE_SIZE));
  return box;
}

function createTable(self, view) {
  const lines = (side) => view[side].names.map((_, line) => line).slice(self.corner[side], self.corner[side] + PAGE_SIZE);
  const table = createElement("table");
  const top = createElement("tr");
  const power = sharedExponent(view);
  top.append(createElement("td", "corner", power ? `times 10${superscript(power)}` : "query ↓ key →"), ...lines("columns").map((column) => headingCell("col", view.columns.names[column], column)));
  const head = createElement("thead");
  head.append(top);
  const body = createElement("tbody");
  body.append(...lines("rows").map((row) => createTableRow(view, row, lines("columns"))));
  table.append(head, body);
  return table;
}

function headingCell(scope, name, line) {
  const cell = createElement("th");
  cell.scope = scope;
  cell.dataset[scope] = line;
  cell.append(createElement("bdi", "", inlineText(name)));
  cell.title = `${line} ${visibleText(name)}`;
  return cell;
}

function createTableRow(view, row, columns) {
  const line = createElement("tr");
  line.dataset.row = row;
  line.append(headingCell("row", view.rows.names[row], row), ...columns.map((column) => createTableCell(view, row, column)));
  return line;
}

function createTableCell(view, row, column) {
  const state = stateAt(view, row, column);
  const number = valueAt(view, row, column);
  const cell = createElement("td", state === SHOWN ? "" : "none", state === SHOWN ? formatCellNumber(view, number) : state === LEFT_OUT ? "·" : "");
  cell.dataset.col = column;
  if (state !== SHOWN) return cell;
  cell.style.setProperty("--shade", `${Math.round(Math.sqrt(magnitude(view, number)) * 80)}%`);
  if (view.signed && number < 0) cell.style.setProperty("--tint", NEGATIVE_COLOUR);
  return cell;
}

/** Small numbers share a power of ten, which stands in the corner. */
function sharedExponent(view) {
  const most = Math.max(Math.abs(view.low), Math.abs(view.high));
  return view.scale !== "share" && most > 0 && most < 0.0995 ? Math.floor(Math.log10(most)) : 0;
}

function superscript(power) {
  return [...String(power)].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻").join("");
}

function formatCellNumber(view, number) {
  if (view.scale === "share") return number.toFixed(3).replace(/^0/, "");
  const size = (Math.abs(number) / 10 ** sharedExponent(view)).toFixed(2);
  return number < 0 && size !== "0.00" ? `−${size}` : size;
}

export function markTable(self, view) {
  const rows = activeRows(self, view);
  const column = hoveredColumn(self, view);
  const table = self.parts.sheet.querySelector("table");
  for (const cell of table.querySelectorAll(".hot")) cell.classList.remove("hot");
  for (const row of rows) table.querySelector(`tr[data-row="${row}"]`)?.classList.add("hot");
  if (column === undefined) return;
  table.querySelector(`th[data-col="${column}"]`)?.classList.add("hot");
  for (const row of rows) table.querySelector(`tr[data-row="${row}"] td[data-col="${column}"]`)?.classList.add("hot");
}

export function tableTokenAt(self, event) {
  const cell = event.target.closest("td, th");
  if (!cell || !self.parts.sheet.contains(cell)) return null;
  const row = cell.closest("tr").dataset.row;
  const column = cell.dataset.col;
  if (row === undefined && column === undefined) return null;
  const place = tokensAt(self.shown, Number(row), Number(column));
  return { query: row === undefined ? null : place.query, key: column === undefined ? null : place.key };
}

/** All of the picture as rows of text: names first, numbers with all their digits; what is not shown is empty. */
function matrixAsText(view) {
  const number = (row, column) => (stateAt(view, row, column) === SHOWN ? String(Number(valueAt(view, row, column).toPrecision(8))) : "");
  const { names } = view.columns;
  return [["", ...names], ...view.rows.names.map((name, row) => [name, ...names.map((_, column) => number(row, column))])];
}

function csvCell(text) {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** For a sheet that is pasted into, where tabs and line breaks part the cells. */
function tsvCell(text) {
  return text.replace(/\n/g, "⏎").replace(/\t/g, "→");
}

export function fileName(self) {
  const heads = selectedHeads(self).map(([layer, head]) => `layer${layer}-head${head}`);
  return [...heads.slice(0, 4), self.choice.view].join("-");
}
