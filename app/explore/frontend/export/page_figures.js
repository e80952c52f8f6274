// The figures that there are of the page: the selected heads, or all of them with the numbers of their layers.

import { MAX_CELLS, maxPool } from "../../../../model/rendering/static/heads/thumbnails.js";
import { loadPendingGrid } from "../../../../model/rendering/static/heads/zoom.js";
import { currentColourRange, gridHigh } from "../../../../model/rendering/static/state/colour_range.js";
import { isOff } from "../../../../model/rendering/static/state/head_ablation.js";
import {
  exactMatrix,
  fitColours,
  headCodes,
  matrixQuery,
} from "../../../../model/rendering/static/state/head_matrix.js";
import { currentGrid, selectedHeads } from "../../../../model/rendering/static/state/head_selection.js";
import { lineIndices } from "../../../../model/rendering/static/state/token_selection.js";
import { readFloats } from "../../../../model/rendering/static/ui/wire.js";
import { askRoute } from "../server.js";
import { createFigure } from "./figure.js";
import { fetchLayerNumbers } from "./layer_numbers.js";
import { createOverview } from "./overview_figure.js";

/** @import { Grid, MatrixMeta } from "../../../../model/rendering/static/types.js" */
/** @import { Packed } from "../../../../model/rendering/static/ui/wire.js" */
/** @import { ExplorePage } from "../types.js" */
/** @typedef {{ width: number, title: string, foot: string }} FigureOptions */

const MAX_FIGURE_CELLS = 1 << 20; // of all heads together: what a request for a PDF may hold

/** The selected heads, each by itself. @param {ExplorePage} page @param {FigureOptions} options */
export async function createPictureFigure(page, options) {
  const asked = { ...page.state.answer.question, ...matrixQuery(page), per_head: true };
  /** @type {Packed<MatrixMeta>} */
  const { meta, start, buffer } = await askRoute(page, "head_view", asked);
  const matrix = fitColours(page, exactMatrix(page, { meta, numbers: readFloats(buffer, start) }), true);
  const heads = selectedHeads(page).map(([layer, head]) => `Layer ${layer} · Head ${head}`);
  const locked = lineIndices(matrix.rowOf, page.state.choice.pinned);
  return createFigure(matrix, heads, { ...options, picture: page.state.choice.plot, locked });
}

/**
 * All heads of the attention that is open, and the numbers of each layer.
 * @param {ExplorePage} page @param {FigureOptions} options
 */
export async function createHeadsFigure(page, options) {
  await loadPendingGrid(page); // of a long text
  const grid = currentGrid(page);
  if (grid.pending) throw new Error("Not all heads are computed yet. Try again in a moment.");
  const { columns, rules } = await fetchLayerNumbers(page);
  const range = currentColourRange(page);
  const { layers, heads } = grid;
  const fitted = range.quantile === null ? "" : `, ${range.description}`;
  return createOverview({ layers, heads, cells: headCells(page, grid), range, high: gridHigh(page, grid) }, columns, {
    ...options,
    rules: [`attention weights of all heads${fitted}`, ...rules],
  });
}

/**
 * The byte codes of each head; nothing of one that is off.
 * @param {ExplorePage} page @param {Grid} grid
 */
function headCells(page, grid) {
  const most = Math.min(Math.floor(Math.sqrt(MAX_FIGURE_CELLS / (grid.layers * grid.heads))), MAX_CELLS);
  return (/** @type {number} */ layer, /** @type {number} */ head) => {
    if (isOff(page.state.choice.edits, grid, layer, head)) return null;
    const [codes, rows, columns] = maxPool(headCodes(page, grid, layer, head), ...grid.pooled_shape, most);
    return { codes, rows, columns };
  };
}
