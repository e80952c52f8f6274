// The weights by which an answer and a text are aligned: those of the heads that the instrument shows, else of a layer.

import { combineHeads, headCodes } from "../../../model/rendering/static/state/head_matrix.js";
import { currentGrid, headName, selectedHeads } from "../../../model/rendering/static/state/head_selection.js";
import { WEIGHT_OF_CODE } from "../../../model/rendering/static/ui/colours.js";

/** @import { Grid, Head } from "../../../model/rendering/static/types.js" */
/** @import { ExplorePage } from "../../explore/frontend/types.js" */
/** @import { AlignmentWeights } from "./types.js" */

const REQUEST_DELAY = 40; // milliseconds; a head that somebody walks past is not asked about

/**
 * Null where a text is so long that its weights are not all here. Until the exact ones are, they are those of byte codes.
 * @param {ExplorePage} page @param {string} attention @returns {AlignmentWeights | null}
 */
export function alignmentWeights(page, attention) {
  const grid = page.state.answer.attention_groups.find(({ name }) => name === attention);
  if (!grid || grid.pending || String(grid.pooled_shape) !== String([grid.rows, grid.columns])) return null;
  const { heads, reduction, title } = shownHeads(page, grid);
  const asked = { attention, quantity: "weights" };
  const which =
    heads.length > 1
      ? { heads: heads.map(headName), head_reduction: reduction }
      : { layer: heads[0][0], head: heads[0][1] };
  const found = page.server.get("head_view", { ...asked, ...which }, REQUEST_DELAY);
  const exact = found && !found.meta.error ? found.numbers.subarray(0, grid.rows * grid.columns) : null;
  const numbers = exact ?? codedWeights(page, grid, heads, reduction);
  return { at: (query, key) => numbers[query * grid.columns + key] || 0, title };
}

/** @param {ExplorePage} page @param {Grid} grid @returns {{ heads: Head[], reduction: string, title: string }} */
function shownHeads(page, grid) {
  if (currentGrid(page).name === grid.name) {
    const heads = selectedHeads(page);
    const reduction = page.state.choice.head_reduction;
    const [layer, head] = heads[0];
    const title = heads.length > 1 ? `${reduction} of ${heads.length} heads` : `layer ${layer}, head ${head}`;
    return { heads, reduction, title };
  }
  const layer = grid.layers - 1;
  const heads = Array.from({ length: grid.heads }, (_, head) => /** @type {Head} */ ([layer, head]));
  return { heads, reduction: "mean", title: `mean of the heads of layer ${layer}` };
}

/** @param {ExplorePage} page @param {Grid} grid @param {Head[]} heads @param {string} reduction */
function codedWeights(page, grid, heads, reduction) {
  const each = heads.map(([layer, head]) =>
    Float32Array.from(headCodes(page, grid, layer, head), (code) => WEIGHT_OF_CODE[code]),
  );
  return each.length > 1 ? combineHeads(each, reduction) : each[0];
}
