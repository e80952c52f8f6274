// The matrix of the selected heads as a map, queries downwards and keys to the right.

import { paintCodes, SIGNED_COLOURS, WEIGHT_COLOURS } from "../charts/colours.ts";
import type { HeatmapLayout } from "../charts/heatmap.ts";
import { cellAtPointer, drawHeatmap } from "../charts/heatmap.ts";
import { remembered } from "../dom/memory.ts";
import { matrixCodes, shownMatrix, tokensAt } from "../state/head_matrix.ts";
import { activeColumn, activeRows } from "../state/token_selection.ts";
import type { HeadMatrix, Page, Plot } from "../types.ts";
import { currentStyle, plotHeight } from "./measurements.ts";

const memory = remembered(() => ({ image: document.createElement("canvas"), layout: null as HeatmapLayout | null }));

export const ATTENTION_MAP: Plot = {
  draw: drawAttentionMap,
  tokenAt(page, event) {
    const cell = mapCellAt(page, event);
    const matrix = shownMatrix(page);
    return cell && matrix && tokensAt(matrix, cell.query, cell.key);
  },
};

function drawAttentionMap(page: Page, matrix: HeadMatrix, width: number, canvas: HTMLCanvasElement) {
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

/** The row and column under the pointer. */
export function mapCellAt(page: Page, event: MouseEvent) {
  return cellAtPointer(page.view.elements.canvas, memory(page).layout, event);
}
