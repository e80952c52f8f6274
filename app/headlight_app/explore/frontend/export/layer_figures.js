// Figures of the tab Layers: coloured tables, bars, and the norms of the residual stream.

import { formatShort, formatSigned } from "../../../ui/frontend/charts/charts.js";
import { CIVIDIS, colour, PURPLE_ORANGE } from "../../../ui/frontend/charts/colours.js";
import { addBars, addLineChart } from "../../../ui/frontend/charts/figure_charts.js";
import { addTable } from "../../../ui/frontend/charts/figure_table.js";
import { addColourScale, colourNames, titled } from "../../../ui/frontend/charts/shapes.js";
import { drawPanels, WIDEST_CHART } from "../../../ui/frontend/views/export/figures.js";

/** @import { LineChart } from "../../../ui/frontend/charts/figure_charts.js" */
/** @import { PrintedRow } from "../../../ui/frontend/charts/figure_table.js" */
/** @import { Box, Figure, RankedEntry, ShownFigure, TableCell } from "../types.js" */

/**
 * @typedef {{ answer: string, share: number, note: string, asked: boolean }} LensCell the likeliest answer, its
 * number, and the note below it
 */
/** @typedef {{ low: string, high: string, note: string, most: number | null }} LensScale `most` of scores; null for probabilities */
/**
 * @typedef {object} ShownLens
 * @property {string[]} columns @property {{ label: string, cells: LensCell[] }[]} rows
 * @property {PrintedRow[]} [truth] the true tokens, if known
 * @property {LineChart | null} [norms]
 * @property {string} words what the colour means @property {LensScale} [scale]
 */

/** @type {LensScale} */
export const SHARES = { low: "0", high: "1", note: "square-root scale", most: null };

/** The colour of a number. @param {LensScale} scale @param {number} number */
export function shadeOf({ most }, number) {
  return most === null ? colour(Math.sqrt(number), CIVIDIS) : colour(0.5 + number / most / 2, PURPLE_ORANGE);
}

/** @param {ShownLens} lens @returns {ShownFigure["draw"]} */
export function drawLens({ columns, rows, truth = [], norms, words, scale = SHARES }) {
  const printed = rows.map(({ label, cells }) => ({
    label,
    cells: cells.map(({ answer, share, note, asked }) => ({
      lines: [answer, note],
      fill: shadeOf(scale, share),
      bold: asked,
    })),
  }));
  const panels = [
    (/** @type {Figure} */ figure) => (/** @type {Box} */ box) => {
      const y = addTable(figure, { columns, rows: [...printed, ...truth] }, box) + 0.8;
      const { low, high, note, most } = scale;
      const palette = colourNames(most !== null);
      return addColourScale(figure, { low, high, words: `${words}, ${note}`, palette }, box.x, y);
    },
  ];
  if (norms) {
    panels.push((figure) => (box) => addLineChart(figure, norms, { ...box, width: Math.min(box.width, WIDEST_CHART) }));
  }
  return drawPanels(panels, scale.most !== null);
}

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
