// The selection of heads.

import { isOff, switchHeads } from "./head_ablation.js";

/** @import { AttentionGroup, Head, Page } from "../types.js" */

/** The chosen attention, else the model's first. @param {Page} page */
export function currentGroup(page) {
  const groups = page.state.latestAnswer?.attention_groups ?? [];
  return groups.find((group) => group.name === page.state.choice.attention) || groups[0];
}

/**
 * Corrects choices that do not fit: a link may name heads that this model lacks, and if several heads are selected, the
 * current head must be one of them.
 * @param {Page} page @param {AttentionGroup} group
 */
export function clampHead(page, group) {
  const { choice } = page.state;
  const heads = choice.heads.filter((name) => isHead(group, parseHead(name)));
  /** @type {Head} */
  const current = [Math.min(choice.layer, group.layers - 1), Math.min(choice.head, group.heads - 1)];
  const last = heads.at(-1);
  const [layer, head] = last === undefined || heads.includes(headName(current)) ? current : parseHead(last);
  page.state.correct({ layer, head, heads });
}

/** @param {AttentionGroup} group @param {Head} pair */
function isHead(group, [layer, head]) {
  return layer >= 0 && layer < group.layers && head >= 0 && head < group.heads; // false for NaN
}

/** "2.3" for head 3 of layer 2, as in State and the address. @param {Head} pair */
export function headName([layer, head]) {
  return `${layer}.${head}`;
}

/** @param {string} name @returns {Head} */
export function parseHead(name) {
  const [layer, head] = name.split(".").map(Number);
  return [layer, head];
}

/** The selected heads; only the current one if no others were added. @param {Page} page @returns {Head[]} */
export function selectedHeads(page) {
  const { heads, layer, head } = page.state.choice;
  return heads.length ? heads.map(parseHead) : [[layer, head]];
}

/** @param {Page} page @param {number} layer @param {number} head */
export function isSelected(page, layer, head) {
  return page.state.choice.heads.includes(headName([layer, head]));
}

/**
 * Selects a head; with `more`, adds it to the selection or removes it.
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
 * Selects all heads of a layer, or clears the selection if it consists of exactly these.
 * @param {Page} page @param {number} layer
 */
export function selectLayer(page, layer) {
  const names = Array.from({ length: currentGroup(page).heads }, (_, head) => headName([layer, head]));
  const all =
    names.length === page.state.choice.heads.length && names.every((name) => page.state.choice.heads.includes(name));
  page.change({ layer, heads: all ? [] : names });
}

/** Switches heads off if any of them is on, else on. @param {Page} page @param {Head[]} heads */
export function toggleHeads(page, heads) {
  const [{ edits }, group] = [page.state.choice, currentGroup(page)];
  const off = heads.some(([layer, head]) => !isOff(edits, group, layer, head));
  page.change({ edits: switchHeads(edits, group, heads, off) });
}

/** @param {AttentionGroup} group @param {number} layer @returns {Head[]} */
export function layerHeads(group, layer) {
  return Array.from({ length: group.heads }, (_, head) => [layer, head]);
}
