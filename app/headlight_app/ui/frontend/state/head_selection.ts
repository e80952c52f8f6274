// The selection of heads.

import type { AttentionGroup, Head, Page } from "../types.ts";
import { isOff, switchHeads } from "./head_ablation.ts";

/** The chosen attention, else the model's first. */
export function currentGroup(page: Page) {
  const groups = page.state.latestAnswer?.attention_groups ?? [];
  return groups.find((group) => group.name === page.state.choice.attention) || groups[0];
}

/**
 * Corrects choices that do not fit: a link may name heads that this model lacks, and if several heads are selected, the
 * current head must be one of them.
 */
export function clampHead(page: Page, group: AttentionGroup) {
  const { choice } = page.state;
  const heads = choice.heads.filter((name) => isHead(group, parseHead(name)));
  const current: Head = [Math.min(choice.layer, group.layers - 1), Math.min(choice.head, group.heads - 1)];
  const last = heads.at(-1);
  const [layer, head] = last === undefined || heads.includes(headName(current)) ? current : parseHead(last);
  page.state.correct({ layer, head, heads });
}

function isHead(group: AttentionGroup, [layer, head]: Head) {
  return layer >= 0 && layer < group.layers && head >= 0 && head < group.heads; // false for NaN
}

/** "2.3" for head 3 of layer 2, as in State and the address. */
export function headName([layer, head]: Head) {
  return `${layer}.${head}`;
}

export function parseHead(name: string): Head {
  const [layer, head] = name.split(".").map(Number);
  return [layer, head];
}

/** The selected heads; only the current one if no others were added. */
export function selectedHeads(page: Page): Head[] {
  const { heads, layer, head } = page.state.choice;
  return heads.length ? heads.map(parseHead) : [[layer, head]];
}

export function isSelected(page: Page, layer: number, head: number) {
  return page.state.choice.heads.includes(headName([layer, head]));
}

/** Selects a head; with `more`, adds it to the selection or removes it. */
export function selectHead(page: Page, layer: number, head: number, more: boolean = false) {
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

/** Selects all heads of a layer, or clears the selection if it consists of exactly these. */
export function selectLayer(page: Page, layer: number) {
  const names = Array.from({ length: currentGroup(page).heads }, (_, head) => headName([layer, head]));
  const all =
    names.length === page.state.choice.heads.length && names.every((name) => page.state.choice.heads.includes(name));
  page.change({ layer, heads: all ? [] : names });
}

/** Switches heads off if any of them is on, else on. */
export function toggleHeads(page: Page, heads: Head[]) {
  const [{ edits }, group] = [page.state.choice, currentGroup(page)];
  const off = heads.some(([layer, head]) => !isOff(edits, group, layer, head));
  page.change({ edits: switchHeads(edits, group, heads, off) });
}

export function layerHeads(group: AttentionGroup, layer: number): Head[] {
  return Array.from({ length: group.heads }, (_, head) => [layer, head]);
}
