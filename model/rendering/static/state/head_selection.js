// Which heads are looked at.

import { isOff, switchHeads } from "./head_ablation.js";

/** @import { Grid, Head, Page } from "../types.js" */

/** The attention that was chosen, else the model's first. @param {Page} page */
export function currentGrid(page) {
  const grids = page.state.latestAnswer?.attention_groups ?? [];
  return grids.find((grid) => grid.name === page.state.choice.attention) || grids[0];
}

/**
 * A link may name heads that this model has not; of several selected heads one is always the current one.
 * @param {Page} page @param {Grid} grid
 */
export function clampHead(page, grid) {
  const { choice } = page.state;
  const heads = choice.heads.filter((name) => isHead(grid, parseHead(name)));
  /** @type {Head} */
  const current = [Math.min(choice.layer, grid.layers - 1), Math.min(choice.head, grid.heads - 1)];
  const last = heads.at(-1);
  const [layer, head] = last === undefined || heads.includes(headName(current)) ? current : parseHead(last);
  page.state.correct({ layer, head, heads });
}

/** @param {Grid} grid @param {Head} pair */
function isHead(grid, [layer, head]) {
  return layer >= 0 && layer < grid.layers && head >= 0 && head < grid.heads; // false for what is no number
}

/** "2.3" for head 3 of layer 2, as State and the address have it. @param {Head} pair */
export function headName([layer, head]) {
  return `${layer}.${head}`;
}

/** @param {string} name @returns {Head} */
export function parseHead(name) {
  const [layer, head] = name.split(".").map(Number);
  return [layer, head];
}

/** The selected heads; the current one alone where no others were added. @param {Page} page @returns {Head[]} */
export function selectedHeads(page) {
  const { heads, layer, head } = page.state.choice;
  return heads.length ? heads.map(parseHead) : [[layer, head]];
}

/** @param {Page} page @param {number} layer @param {number} head */
export function isSelected(page, layer, head) {
  return page.state.choice.heads.includes(headName([layer, head]));
}

/**
 * Selects a head; with `more` it joins the selected ones, or leaves them.
 * @param {Page} page @param {number} layer @param {number} head @param {boolean} [more]
 */
export function selectHead(page, layer, head, more = false) {
  page.state.focusHead(null);
  if (!more) return page.change({ layer, head, heads: [] });
  const name = headName([layer, head]);
  const alone = headName([page.state.choice.layer, page.state.choice.head]);
  const before = page.state.choice.heads.length ? page.state.choice.heads : alone === name ? [] : [alone];
  const after = before.includes(name) ? before.filter((other) => other !== name) : [...before, name];
  const [newLayer, newHead] = parseHead(after.includes(name) ? name : (after.at(-1) ?? name));
  page.state.focusHead([layer, head]);
  page.change({ layer: newLayer, head: newHead, heads: after });
}

/**
 * Selects all heads of a layer, or clears the selection where they are all of it.
 * @param {Page} page @param {number} layer
 */
export function selectLayer(page, layer) {
  const names = Array.from({ length: currentGrid(page).heads }, (_, head) => headName([layer, head]));
  const all =
    names.length === page.state.choice.heads.length && names.every((name) => page.state.choice.heads.includes(name));
  page.change({ layer, heads: all ? [] : names });
}

/** Off where any of the heads is on, else on. @param {Page} page @param {Head[]} heads */
export function toggleHeads(page, heads) {
  const [{ edits }, grid] = [page.state.choice, currentGrid(page)];
  const off = heads.some(([layer, head]) => !isOff(edits, grid, layer, head));
  page.change({ edits: switchHeads(edits, grid, heads, off) });
}

/** @param {Grid} grid @param {number} layer @returns {Head[]} */
export function layerHeads(grid, layer) {
  return Array.from({ length: grid.heads }, (_, head) => [layer, head]);
}
