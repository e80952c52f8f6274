// The matrix of the selected heads as a map, queries downwards and keys to the right.

import { paintCodes, SIGNED_COLOURS, WEIGHT_COLOURS } from "../charts/colours.js";
import { cellAtPointer, drawHeatmap } from "../charts/heatmap.js";
import { remembered } from "../dom/memory.js";
import { matrixCodes, shownMatrix, tokensAt } from "../state/head_matrix.js";
import { activeColumn, activeRows } from "../state/token_selection.js";
import { currentStyle, plotHeight } from "./measurements.js";

/** @import { HeadMatrix, Page, Plot } from "../types.js" */
/** @import { HeatmapLayout } from "../charts/heatmap.js" */

const memory = remembered(() => ({
  image: document.createElement("canvas"),
  layout: /** @type {HeatmapLayout | null} */ (null),
}));

/** @type {Plot} */
export const ATTENTION_MAP = {
  draw: drawAttentionMap,
  tokenAt(page, event) {
    const cell = mapCellAt(page, event);
    const matrix = shownMatrix(page);
    return cell && matrix && tokensAt(matrix, cell.query, cell.key);
  },
};

/** @param {Page} page @param {HeadMatrix} matrix @param {number} width @param {HTMLCanvasElement} canvas */
function drawAttentionMap(page, matrix, width, canvas) {
  const { image } = memory(page);
  paintCodes(image, matrixCodes(matrix), matrix.height, matrix.width, matrix.signed ? SIGNED_COLOURS : WEIGHT_COLOURS);
  const rows = activeRows(page, matrix);
  memory(page).layout = drawHeatmap(canvas, width, {
    queries: matrix.rows.labels.map((text) => ({ text })),
    keys: matrix.columns.labels.map((text) => ({ text })),
    image,
    ground: matrix.signed,
    tall: plotHeight(page),
    hot: { query: rows.at(-1) ?? null, key: activeColumn(page, matrix) ?? null },
    rows,
    style: currentStyle(page),
  });
}

/** The row and column under the pointer. @param {Page} page @param {MouseEvent} event */
export function mapCellAt(page, event) {
  return cellAtPointer(page.view.elements.canvas, memory(page).layout, event);
}
