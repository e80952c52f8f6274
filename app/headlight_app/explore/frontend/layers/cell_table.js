// A table of signed numbers. Each cell is a button that selects a head or opens a feed-forward; arrow keys move.

import { divergingColour, formatShort, formatSigned } from "../../../ui/frontend/charts/charts.js";
import { walkByKeys } from "../../../ui/frontend/dom/cell_keys.js";
import { createElement, createHeading, onHover, updateChildren } from "../../../ui/frontend/dom/dom.js";
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
