// A table of signed numbers. Each cell is a button that selects a head or opens a feed-forward; arrow keys move.

import { divergingColour, formatShort, formatSigned } from "../../../ui/frontend/charts/charts.js";
import { createElement, createHeading, onHover, updateChildren } from "../../../ui/frontend/dom/dom.js";
import { GRID_STEPS } from "../../../ui/frontend/dom/keyboard.js";
import { isCurrentHead } from "./layer_panel.js";

/** @import { ExplorePage, TableActions, TableCell, TableRow } from "../types.js" */
/** @typedef {{ title: string, chosen: boolean }} CellWords */

/**
 * Rows with a number for each cell of a layer. @param {(number | null)[][]} values [layer cell]
 * @param {string} name prefix of the cells' test ids @param {(layer: number, head: number) => CellWords} words
 */
export function layerRows(values, name, words) {
  return values.map((line, layer) => ({
    label: `L${layer}`,
    cells: line.map((value, head) => {
      return { value, layer, head, testid: `${name}-${layer}-${head}`, ...words(layer, head) };
    }),
  }));
}

/**
 * The title of each head, and whether it is selected.
 * @param {ExplorePage} page @returns {(layer: number, head: number) => CellWords}
 */
export function headWords(page) {
  return (layer, head) => ({ title: `Layer ${layer}, head ${head}`, chosen: isCurrentHead(page, layer, head) });
}

/**
 * @param {HTMLTableElement} table @param {(string | number)[]} columns
 * @param {TableRow[]} rows @param {TableActions} actions
 */
export function drawCellTable(table, columns, rows, actions) {
  const heading = createElement("tr");
  heading.append(createElement("td"), ...columns.map((column) => createHeading(column, "col")));
  const lines = rows.map(({ label, cells }) =>
    createElement("tr", "", [createHeading(label, "row"), ...cells.map((cell) => createCell(cell, actions))]),
  );
  updateChildren(table, heading, ...lines);
  walkByKeys(table);
}

/** Tab leads to one button of a table, arrow keys to the others. @param {HTMLTableElement} table */
export function walkByKeys(table) {
  const buttons = [...table.querySelectorAll("button")];
  const first = buttons.find((button) => button.classList.contains("chosen")) || buttons[0];
  if (first && !table.querySelector('button[tabindex="0"]')) first.tabIndex = 0;
  table.onkeydown = (event) => onCellKey(table, event);
}

/** @param {TableCell | undefined} cell @param {TableActions} actions */
function createCell(cell, { most, read, pick }) {
  const place = createElement("td");
  if (!cell) return place;
  const short = cell.value === null ? "" : formatShort(cell.value, most);
  const button = createElement("button", cell.chosen ? "chosen" : "", short, { tabIndex: -1 });
  button.style.background = cell.value === null ? "" : divergingColour(cell.value / most);
  const exactly =
    cell.value === null || formatSigned(cell.value) === short ? "" : `, exactly ${formatSigned(cell.value)}`;
  button.ariaLabel = `${cell.title}${short && `: ${short}`}${exactly}`;
  if (cell.testid) button.dataset.testid = cell.testid;
  button.onfocus = () => read(cell);
  onHover(button, { read: () => read(cell), left: () => read(null) });
  if (cell.head >= 0 || cell.kind === "feed_forward") button.onclick = () => pick(cell);
  place.append(button);
  return place;
}

/** @param {HTMLTableElement} table @param {KeyboardEvent} event */
export function onCellKey(table, event) {
  const step = GRID_STEPS[event.key];
  const button = event.target instanceof HTMLElement ? event.target : null;
  const cell = button?.closest("td");
  const line = cell?.closest("tr");
  if (!step || !button || !cell || !line) return;
  event.preventDefault();
  const next = nextButton(table, line.rowIndex, cell.cellIndex, step);
  if (!next) return;
  button.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/**
 * The next cell in a direction that has a button.
 * @param {HTMLTableElement} table @param {number} row @param {number} column @param {[down: number, right: number]} step
 */
function nextButton(table, row, column, [down, right]) {
  for (let distance = 1; ; distance++) {
    const cell = table.rows[row + distance * down]?.cells[column + distance * right];
    if (!cell || column + distance * right < 1) return null;
    const button = cell.querySelector("button");
    if (button) return button;
  }
}
