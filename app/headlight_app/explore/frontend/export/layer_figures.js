// Figures of signed numbers: a coloured table, and bars.

import { formatShort, formatSigned } from "../../../ui/frontend/charts/charts.js";
import { colour, PURPLE_ORANGE } from "../../../ui/frontend/charts/colours.js";
import { addBars } from "../../../ui/frontend/charts/figure_charts.js";
import { addTable } from "../../../ui/frontend/charts/figure_table.js";
import { addColourScale, colourNames, titled } from "../../../ui/frontend/charts/shapes.js";
import { drawPanels } from "../../../ui/frontend/views/export/figures.js";

/** @import { Box, Figure, RankedEntry, ShownFigure, TableCell } from "../types.js" */

/**
 * Signed numbers in a table, and the largest of them as bars.
 * @param {{ columns: string[], rows: { label: string, cells: (TableCell | undefined)[] }[] }} table
 * @param {{ title: string, entries: RankedEntry[] }} ranked @param {string} unit @returns {ShownFigure["draw"]}
 */
export function drawSigned({ columns, rows }, ranked, unit) {
  const values = rows.flatMap(({ cells }) => cells.map((cell) => Math.abs(cell?.value ?? 0)));
  const most = Math.max(...values, 1e-9);
  const printed = rows.map(({ label, cells }) => ({ label, cells: cells.map((cell) => signedCell(cell, most)) }));
  const ends = { low: formatSigned(-most), high: formatSigned(most), words: `${unit}, white at zero` };
  return drawPanels(
    [
      (figure) => (box) => {
        const y = addTable(figure, { columns, rows: printed }, box) + 0.8;
        return addColourScale(figure, { ...ends, palette: colourNames(true) }, box.x, y);
      },
      (figure) => titled(figure, ranked.title, (box) => addRanked(figure, ranked.entries, box)),
    ],
    true,
  );
}

/** @param {TableCell | undefined} cell @param {number} most */
function signedCell(cell, most) {
  if (!cell || cell.value === null) return undefined;
  return {
    lines: [formatShort(cell.value, most)],
    fill: colour(0.5 + cell.value / most / 2, PURPLE_ORANGE),
    bold: cell.chosen,
  };
}

/** @param {Figure} figure @param {RankedEntry[]} entries @param {Box} box */
function addRanked(figure, entries, box) {
  const rows = entries.map(({ title, value }) => ({ label: title, values: [value] }));
  const values = entries.filter(({ total }) => !total).map(({ value }) => value);
  const ends = { least: Math.min(0, ...values), most: Math.max(0, ...values) };
  return addBars(figure, { rows, kinds: [""], ...ends, format: formatSigned, missing: "" }, box);
}

/** Numbers as bars. @param {{ title: string, entries: RankedEntry[] }} ranked @returns {ShownFigure["draw"]} */
export function drawRanked({ title, entries }) {
  return drawPanels([(figure) => titled(figure, title, (box) => addRanked(figure, entries, box))], false);
}
