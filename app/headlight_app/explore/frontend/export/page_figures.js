// The figures that there are of the page: the selected heads, or all of them with the numbers of their layers.

import { activePlot } from "../../../ui/frontend/heads/head_panel.js";
import { MAX_CELLS, maxPool } from "../../../ui/frontend/heads/thumbnails.js";
import { loadPendingGroup } from "../../../ui/frontend/heads/zoom.js";
import { currentColourRange, gridHigh } from "../../../ui/frontend/state/colour_range.js";
import { isOff } from "../../../ui/frontend/state/head_ablation.js";
import { exactMatrix, fitColours, headCodes, matrixQuery } from "../../../ui/frontend/state/head_matrix.js";
import { currentGroup, selectedHeads } from "../../../ui/frontend/state/head_selection.js";
import { lineIndices } from "../../../ui/frontend/state/token_selection.js";
import { readFloats } from "../../../ui/frontend/wire.js";
import { askRoute } from "../server.js";
import { activeTab } from "../tabs.js";
import { createFigure } from "./figure.js";
import { fetchLayerNumbers } from "./layer_numbers.js";
import { createOverview } from "./overview_figure.js";

/** @import { AttentionGroup } from "../../../ui/frontend/types.js" */
/** @import { ExplorePage } from "../types.js" */
/** @typedef {{ width: number, title: string, foot: string }} FigureOptions */

const MAX_FIGURE_CELLS = 1 << 20; // of all heads together: what a request for a PDF may hold

/** Whether a figure shows what stands on the page; of all else a map of the same heads is drawn. @param {ExplorePage} page */
export function drawsWhatIsShown(page) {
  return activeTab(page) === "heads" && ["heatmap", "lines"].includes(activePlot(page));
}

/**
 * The selected heads, each by itself, as a map or as lines.
 * @param {ExplorePage} page @param {FigureOptions} options @param {string} [plot]
 */
export async function createPictureFigure(page, options, plot = activePlot(page)) {
  const { question } = page.state.answer;
  const asked = { question, ...matrixQuery(page), per_head: true };
  const { meta, start, buffer } = await askRoute(page, "head_view", asked);
  const matrix = fitColours(page, exactMatrix(page, { meta, numbers: readFloats(buffer, start) }), true);
  const heads = selectedHeads(page).map(([layer, head]) => `Layer ${layer} · Head ${head}`);
  const locked = lineIndices(matrix.rowOf, page.state.choice.pinned);
  return createFigure(matrix, heads, { ...options, picture: plot, locked });
}

/**
 * All heads of the attention that is open, and the numbers of each layer.
 * @param {ExplorePage} page @param {FigureOptions} options
 */
export async function createHeadsFigure(page, options) {
  await loadPendingGroup(page); // of a long text
  const group = currentGroup(page);
  if (group.pending) throw new Error("Not all heads are computed yet. Try again in a moment.");
  const { columns, rules } = await fetchLayerNumbers(page);
  const range = currentColourRange(page);
  const { layers, heads } = group;
  const fitted = range.quantile === null ? "" : `, ${range.description}`;
  return createOverview({ layers, heads, cells: headCells(page, group), range, high: gridHigh(page, group) }, columns, {
    ...options,
    rules: [`attention weights of all heads${fitted}`, ...rules],
  });
}

/**
 * The byte codes of each head; nothing of one that is off.
 * @param {ExplorePage} page @param {AttentionGroup} group
 */
function headCells(page, group) {
  const most = Math.min(Math.floor(Math.sqrt(MAX_FIGURE_CELLS / (group.layers * group.heads))), MAX_CELLS);
  return (/** @type {number} */ layer, /** @type {number} */ head) => {
    if (isOff(page.state.choice.edits, group, layer, head)) return null;
    const [codes, rows, columns] = maxPool(headCodes(page, group, layer, head), ...group.pooled_shape, most);
    return { codes, rows, columns };
  };
}
