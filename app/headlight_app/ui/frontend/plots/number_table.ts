// A table of all numbers of the plot, to read, to copy, and to save.

import { NEGATIVE_COLOUR } from "../charts/colours.ts";
import { copyText, csvCell, saveFile } from "../dom/clipboard.ts";
import { closest, createElement, createHeading, inlineText, updateChildren, visibleText } from "../dom/dom.ts";
import { remembered } from "../dom/memory.ts";
import { formatPlaces, raised } from "../dom/numbers.ts";
import { LEFT_OUT, magnitude, SHOWN, shownMatrix, stateAt, tokensAt, valueAt } from "../state/head_matrix.ts";
import { selectedHeads } from "../state/head_selection.ts";
import { activeColumn, activeRows } from "../state/token_selection.ts";
import type { HeadMatrix, Page, Plot } from "../types.ts";

const PAGE_SIZE = 32; // rows and columns on the screen at a time; copies and files contain all

const memory = remembered(() => ({
  drawn: null as HeadMatrix | null,
  corner: { rows: 0, columns: 0 }, // the first row and column on the screen
  turned: false,
}));

export const NUMBER_TABLE: Plot = { element: "sheet", draw: drawTable, mark: markTable, tokenAt: tableTokenAt };

function drawTable(page: Page, matrix: HeadMatrix) {
  const { sheet } = page.view.elements;
  const table = memory(page);
  if (table.drawn !== matrix || table.turned) {
    if (table.drawn?.rows.labels.length !== matrix.rows.labels.length)
      table.corner = { rows: pageStart(activeRows(page, matrix)[0] ?? 0), columns: 0 };
    table.drawn = matrix;
    table.turned = false;
    updateChildren(sheet, createToolbar(page, matrix), createTable(page, matrix));
  }
  markTable(page, matrix);
}

function pageStart(line: number) {
  return Math.floor(line / PAGE_SIZE) * PAGE_SIZE;
}

function createToolbar(page: Page, matrix: HeadMatrix) {
  const tools = createElement("div", "sheet-tools");
  const copy = createElement("button", "small", "Copy", { testid: "copy-table" });
  copy.title = "Copy all numbers, to paste into a spreadsheet";
  const save = createElement("button", "small", "CSV", { testid: "save-table", title: "Save all numbers as a file" });
  copy.onclick = () => copyText(copy, matrixAsText(matrix, tsvCell, "\t", "\n"));
  save.onclick = () => saveFile(`${fileName(page)}.csv`, "text/csv", matrixAsText(matrix, csvCell, ",", "\r\n"));
  copy.disabled = save.disabled = !matrix.exact;
  tools.append(copy, save, createPager(page, matrix, "rows", "queries"), createPager(page, matrix, "columns", "keys"));
  return tools;
}

/** Buttons to turn pages, if the text is longer than one. */
function createPager(page: Page, matrix: HeadMatrix, side: "rows" | "columns", title: string) {
  const count = matrix[side].labels.length;
  const box = createElement("span", "pager");
  if (count <= PAGE_SIZE) return box;
  const from = memory(page).corner[side];
  const turn = (sign: string, step: number) =>
    createElement("button", "small", sign, {
      disabled: step < 0 ? from === 0 : from + PAGE_SIZE >= count,
      ariaLabel: `${step < 0 ? "Earlier" : "Later"} ${title}`,
      onclick: () => {
        memory(page).corner[side] = Math.max(from + step, 0);
        memory(page).turned = true;
        drawTable(page, matrix);
      },
    });
  box.append(
    turn("‹", -PAGE_SIZE),
    `${title} ${from}–${Math.min(from + PAGE_SIZE, count) - 1} of ${count}`,
    turn("›", PAGE_SIZE),
  );
  return box;
}

function createTable(page: Page, matrix: HeadMatrix) {
  const lines = (side: "rows" | "columns") =>
    matrix[side].labels.map((_, line) => line).slice(memory(page).corner[side], memory(page).corner[side] + PAGE_SIZE);
  const power = sharedExponent(matrix);
  const top = createElement("tr", "", [
    createElement("td", "corner", power ? `times 10${raised(power)}` : "query ↓ key →"),
    ...lines("columns").map((column) => headingCell("col", matrix.columns.labels[column], column)),
  ]);
  const body = lines("rows").map((row) => createTableRow(matrix, row, lines("columns")));
  return createElement("table", "", [createElement("thead", "", [top]), createElement("tbody", "", body)]);
}

function headingCell(scope: "row" | "col", name: string, line: number) {
  const cell = createHeading("", scope);
  cell.dataset[scope] = String(line);
  cell.append(createElement("bdi", "", inlineText(name)));
  cell.title = `${line} ${visibleText(name)}`;
  return cell;
}

function createTableRow(matrix: HeadMatrix, row: number, columns: number[]) {
  const line = createElement("tr", "", [], { dataset: { row: String(row) } });
  line.append(
    headingCell("row", matrix.rows.labels[row], row),
    ...columns.map((column) => createTableCell(matrix, row, column)),
  );
  return line;
}

function createTableCell(matrix: HeadMatrix, row: number, column: number) {
  const state = stateAt(matrix, row, column);
  const number = valueAt(matrix, row, column);
  const cell = createElement(
    "td",
    state === SHOWN ? "" : "none",
    state === SHOWN ? formatCellNumber(matrix, number) : state === LEFT_OUT ? "·" : "",
  );
  cell.dataset.col = String(column);
  if (state !== SHOWN) return cell;
  cell.style.setProperty("--shade", `${Math.round(Math.sqrt(magnitude(matrix, number)) * 100)}%`);
  if (matrix.signed && number < 0) cell.style.setProperty("--tint", NEGATIVE_COLOUR);
  return cell;
}

/** The common power of ten of small numbers, which is shown in the corner. */
function sharedExponent(matrix: HeadMatrix) {
  const most = Math.max(Math.abs(matrix.low), Math.abs(matrix.high));
  return matrix.scale !== "probability" && most > 0 && most < 0.0995 ? Math.floor(Math.log10(most)) : 0;
}

export function formatCellNumber(matrix: HeadMatrix, number: number) {
  if (matrix.scale === "probability") return formatPlaces(number, 3).replace(/^0/, "");
  return formatPlaces(number / 10 ** sharedExponent(matrix), 2);
}

function markTable(page: Page, matrix: HeadMatrix) {
  const rows = activeRows(page, matrix);
  const column = activeColumn(page, matrix);
  const table = page.view.elements.sheet.querySelector("table");
  if (!table) return;
  for (const cell of table.querySelectorAll(".hot")) cell.classList.remove("hot");
  for (const row of rows) table.querySelector(`tr[data-row="${row}"]`)?.classList.add("hot");
  if (column === undefined) return;
  table.querySelector(`th[data-col="${column}"]`)?.classList.add("hot");
  for (const row of rows) table.querySelector(`tr[data-row="${row}"] td[data-col="${column}"]`)?.classList.add("hot");
}

function tableTokenAt(page: Page, event: MouseEvent) {
  const cell = closest(event, "td, th");
  const matrix = shownMatrix(page);
  if (!cell || !matrix || !page.view.elements.sheet.contains(cell)) return null;
  const row = cell.closest("tr")?.dataset.row;
  const column = cell.dataset.col;
  if (row === undefined && column === undefined) return null;
  const place = tokensAt(matrix, Number(row), Number(column));
  return { query: row === undefined ? null : place.query, key: column === undefined ? null : place.key };
}

/**
 * The whole matrix as rows of text: names first, numbers with all digits; cells that are not shown are empty.
 * @param between cells @param end of a row
 */
function matrixAsText(matrix: HeadMatrix, cell: (text: string) => string, between: string, end: string) {
  const number = (row: number, column: number) =>
    stateAt(matrix, row, column) === SHOWN ? String(Number(valueAt(matrix, row, column).toPrecision(8))) : "";
  const { labels } = matrix.columns;
  const rows = matrix.rows.labels.map((name, row) => [name, ...labels.map((_, column) => number(row, column))]);
  return [["", ...labels], ...rows].map((row) => row.map(cell).join(between)).join(end);
}

/** For pasting into a spreadsheet, in which tabs and line breaks separate cells. */
function tsvCell(text: string) {
  return text.replace(/\n/g, "¶").replace(/\t/g, "→");
}

export function fileName(page: Page) {
  const heads = selectedHeads(page).map(([layer, head]) => `layer${layer}-head${head}`);
  return [...heads.slice(0, 4), page.state.choice.quantity].join("-");
}
