// The figures of the page: the selected heads, and all heads.

import { activePlot } from "../../../ui/frontend/heads/head_panel.js";
import { MAX_CELLS, maxPool } from "../../../ui/frontend/heads/thumbnails.js";
import { loadPendingGroup } from "../../../ui/frontend/heads/zoom.js";
import { fileName } from "../../../ui/frontend/plots/number_table.js";
import { planeQuery } from "../../../ui/frontend/plots/query_key_plot.js";
import { askRoute } from "../../../ui/frontend/server.js";
import { currentColourRange, gridHigh } from "../../../ui/frontend/state/colour_range.js";
import { isOff } from "../../../ui/frontend/state/head_ablation.js";
import { exactMatrix, fitColours, headCodes, matrixQuery } from "../../../ui/frontend/state/head_matrix.js";
import { currentGroup, selectedHeads } from "../../../ui/frontend/state/head_selection.js";
import { lineIndices } from "../../../ui/frontend/state/token_selection.js";
import { answerPosition } from "../analysis/analysis_choice.js";
import { askFloats } from "../server.js";
import { runOf, shownSide } from "../shown_run.js";
import { drawHeads, rulesOf } from "./heads_figure.js";
import { createOverview } from "./overview_figure.js";

/** @import { AttentionGroup, ExplorePage, LayerNumbersAnswer, ShownFigure } from "../types.js" */

const MAX_FIGURE_CELLS = 1 << 20; // cells of all heads together, limited by the size of a PDF request

/**
 * The selected heads as drawn on the page, or in another plot.
 * @param {ExplorePage} page @param {string} [plot] @returns {Promise<ShownFigure>}
 */
export async function headsDrawing(page, plot = activePlot(page)) {
  const asked = matrixQuery(page);
  const found = await askFloats(page, "head_view", { ...asked, per_head: plot === "lines" });
  const matrix = fitColours(page, exactMatrix(page, found), plot === "lines");
  const several = plot === "qk_projection" ? selectedHeads(page).slice(0, 1) : selectedHeads(page);
  const shown = {
    page,
    matrix,
    heads: several.map(([layer, head]) => `Layer ${layer} · Head ${head}`),
    locked: lineIndices(matrix.rowOf, page.state.choice.pinned),
    plane: plot === "qk_projection" ? await askFloats(page, "qk_projection", planeQuery(page)) : undefined,
    image: page.view.elements.canvas,
  };
  return {
    name: fileName(page),
    shown: rulesOf(plot, matrix).join("; "),
    sides: [shownSide(page)],
    draw: (width, title) => drawHeads(plot, shown, width, title),
  };
}

/**
 * All heads of the open attention, and the numbers of each layer.
 * @param {ExplorePage} page @returns {Promise<ShownFigure>}
 */
export async function allHeadsDrawing(page) {
  await loadPendingGroup(page); // the heads of a long text may not be loaded yet
  const group = currentGroup(page);
  if (group.pending) throw new Error("Not all heads are computed yet. Try again in a moment.");
  const { columns, rule } = await layerNumbers(page, group);
  const range = currentColourRange(page);
  const { layers, heads } = group;
  const shown = { layers, heads, cells: headCells(page, group), range, high: gridHigh(page, group) };
  return {
    name: `all-heads-${group.name}`,
    shown: [`${group.shows || "attention weights"} of all heads, ${range.description}`, rule]
      .filter(Boolean)
      .join("; "),
    sides: [{ ...runOf(page), attention_group: group.name }],
    draw: (width, title) => createOverview(shown, columns, { width, title }),
  };
}

/**
 * The numbers of the stack that makes the prediction; an encoder's layers have none.
 * @param {ExplorePage} page @param {AttentionGroup} group @returns {Promise<LayerNumbersAnswer>}
 */
async function layerNumbers(page, { stack }) {
  if (stack !== page.state.answer.attention_groups[0].stack) return { columns: [], rule: "" };
  const asked = {
    question: page.state.answer.question,
    query: answerPosition(page),
    token: page.state.choice.target_token,
  };
  const none = { columns: [], rule: "" }; // the heads are a figure without them
  return askRoute(page.server.api, "layer_numbers", asked).then(
    ({ meta }) => meta,
    () => none,
  );
}

/**
 * The byte codes of each head; null for a head that is off.
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
