// The figures of the page: the selected heads, and all heads.

import { activePlot } from "../../../ui/frontend/heads/head_panel.ts";
import { MAX_CELLS, maxPool } from "../../../ui/frontend/heads/thumbnails.ts";
import { loadPendingGroup } from "../../../ui/frontend/heads/zoom.ts";
import { fileName } from "../../../ui/frontend/plots/number_table.ts";
import { planeQuery } from "../../../ui/frontend/plots/query_key_plot.ts";
import { askRoute } from "../../../ui/frontend/server.ts";
import { currentColourRange, gridHigh } from "../../../ui/frontend/state/colour_range.ts";
import { isOff } from "../../../ui/frontend/state/head_ablation.ts";
import { exactMatrix, fitColours, headCodes, matrixQuery } from "../../../ui/frontend/state/head_matrix.ts";
import { currentGroup, selectedHeads } from "../../../ui/frontend/state/head_selection.ts";
import { lineIndices } from "../../../ui/frontend/state/token_selection.ts";
import { answerPosition } from "../analysis/analysis_choice.ts";
import { askFloats } from "../server.ts";
import { runOf, shownSide } from "../shown_run.ts";
import type { AttentionGroup, ExplorePage, LayerNumbersAnswer, ShownFigure } from "../types.ts";
import { drawHeads, rulesOf } from "./heads_figure.ts";
import { createOverview } from "./overview_figure.ts";

const MAX_FIGURE_CELLS = 1 << 20; // cells of all heads together, limited by the size of a PDF request

/** The selected heads as drawn on the page, or in another plot. */
export async function headsDrawing(page: ExplorePage, plot: string = activePlot(page)): Promise<ShownFigure> {
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

/** All heads of the open attention, and the numbers of each layer. */
export async function allHeadsDrawing(page: ExplorePage): Promise<ShownFigure> {
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

/** The numbers of the stack that makes the prediction; an encoder's layers have none. */
async function layerNumbers(page: ExplorePage, { stack }: AttentionGroup): Promise<LayerNumbersAnswer> {
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

/** The byte codes of each head; null for a head that is off. */
function headCells(page: ExplorePage, group: AttentionGroup) {
  const most = Math.min(Math.floor(Math.sqrt(MAX_FIGURE_CELLS / (group.layers * group.heads))), MAX_CELLS);
  return (layer: number, head: number) => {
    if (isOff(page.state.choice.edits, group, layer, head)) return null;
    const [codes, rows, columns] = maxPool(headCodes(page, group, layer, head), ...group.pooled_shape, most);
    return { codes, rows, columns };
  };
}
