// The weights that align an answer and a text: those of the selected heads, else the mean of a layer.

import { askFloats } from "../../explore/frontend/server.js";
import { combineHeads, headCodes } from "../../ui/frontend/state/head_matrix.js";
import { currentGroup, headName, selectedHeads } from "../../ui/frontend/state/head_selection.js";
import { decodeWeight } from "../../ui/frontend/weight_code.js";

/** @import { AlignmentWeights, AttentionGroup, ExplorePage, Head } from "./types.js" */

const REQUEST_DELAY = 40; // milliseconds; heads that the pointer only passes over are not requested

/**
 * Null if a text is so long that some weights are missing. Until the exact ones arrive, they are decoded byte codes.
 * @param {ExplorePage} page @param {string} attention @returns {AlignmentWeights | null}
 */
export function alignmentWeights(page, attention) {
  const group = page.state.answer.attention_groups.find(({ name }) => name === attention);
  if (!group || group.pending || String(group.pooled_shape) !== String([group.rows, group.columns])) return null;
  const { heads, reduction, title } = shownHeads(page, group);
  const numbers = knownWeights(page, attention, heads, reduction) ?? codedWeights(page, group, heads, reduction);
  return { at: (query, key) => numbers[query * group.columns + key] || 0, title };
}

/** The same for an export: complete and exact. @param {ExplorePage} page @param {string} attention @returns {Promise<AlignmentWeights>} */
export async function exactWeights(page, attention) {
  const group = page.state.answer.attention_groups.find(({ name }) => name === attention);
  if (!group) throw new Error("This model has no attention that connects the answer with what was read.");
  const { heads, reduction, title } = shownHeads(page, group);
  const numbers = await askWeights(page, attention, heads, reduction);
  return { at: (query, key) => numbers[query * group.columns + key] || 0, title };
}

/**
 * Exact weights of some heads, [query key]; null until they arrive. @param {ExplorePage} page @param {string} attention
 * @param {Head[]} heads @param {string} reduction of several heads to one
 */
export function knownWeights(page, attention, heads, reduction) {
  const found = page.server.get("head_view", weightsQuery(attention, heads, reduction), REQUEST_DELAY);
  return found && !found.meta.error ? found.numbers : null;
}

/**
 * The same for an export. @param {ExplorePage} page @param {string} attention @param {Head[]} heads
 * @param {string} reduction
 */
export async function askWeights(page, attention, heads, reduction) {
  const group = page.state.answer.attention_groups.find(({ name }) => name === attention);
  const { meta, numbers } = await askFloats(page, "head_view", weightsQuery(attention, heads, reduction));
  if (meta.rows.labels.length !== group?.rows || meta.columns.labels.length !== group.columns)
    throw new Error("This text is too long for lines. Export “This picture” for the weights.");
  return numbers;
}

/** @param {string} attention @param {Head[]} heads @param {string} reduction */
function weightsQuery(attention, heads, reduction) {
  const [[layer, head]] = heads;
  const which = heads.length > 1 ? { heads: heads.map(headName), head_reduction: reduction } : { layer, head };
  return { choice: { attention, quantity: "weights", ...which } };
}

/** @param {ExplorePage} page @param {AttentionGroup} group @returns {{ heads: Head[], reduction: string, title: string }} */
export function shownHeads(page, group) {
  if (currentGroup(page).name === group.name) {
    const heads = selectedHeads(page);
    const reduction = page.state.choice.head_reduction;
    const [layer, head] = heads[0];
    const title = heads.length > 1 ? `${reduction} of ${heads.length} heads` : `layer ${layer}, head ${head}`;
    return { heads, reduction, title };
  }
  const layer = group.layers - 1;
  const heads = Array.from({ length: group.heads }, (_, head) => /** @type {Head} */ ([layer, head]));
  return { heads, reduction: "mean", title: `mean of the heads of layer ${layer}` };
}

/** @param {ExplorePage} page @param {AttentionGroup} group @param {Head[]} heads @param {string} reduction */
function codedWeights(page, group, heads, reduction) {
  const each = heads.map(([layer, head]) => Float32Array.from(headCodes(page, group, layer, head), decodeWeight));
  return each.length > 1 ? combineHeads(each, reduction) : each[0];
}
