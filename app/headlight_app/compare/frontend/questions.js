// The two questions: A is from the address and the sidebar, B is A with its differences.

/** @import { Choice, Difference, Question, Settings } from "./types.d.ts" */

/** @param {Choice} choice @param {Settings} settings @returns {Question} */
export function questionA({ text, source, edits, patch_from, masked_positions }, settings) {
  return { ...settings, text, source, edits, patch_from, masked_positions };
}

/** Whether an edit takes a value from the run of another text. @param {string} edit */
export const isPatch = (edit) => edit.includes("=from:");

/**
 * The question of B. Edits of another model, masks of another text, and patches are not copied from A.
 * @param {Question} a @param {Difference} difference @returns {Question}
 */
export function questionB(a, { variant, alignment: _by, layer: _layer, head: _head, head_chosen: _chosen, ...own }) {
  const b = { ...a, ...own, variant: { ...a.variant, ...variant } };
  const otherModel = b.model !== a.model;
  if (!("edits" in own)) b.edits = otherModel ? [] : a.edits.filter((edit) => !isPatch(edit));
  if ((otherModel || b.text !== a.text) && !("masked_positions" in own)) b.masked_positions = [];
  return b;
}

/**
 * A difference with a patch applied; undefined fields of the patch are removed from it.
 * @param {Difference} difference @param {Partial<Difference>} patch @returns {Difference}
 */
export function patchDifference(difference, patch) {
  const variant = withoutUndefined({ ...difference.variant, ...patch.variant });
  const patched = { ...difference, ...patch, variant };
  if ("model" in patch) {
    delete patched.edits;
    delete patched.masked_positions;
  }
  return withoutUndefined(patched);
}

/** @template {object} Fields @param {Fields} fields */
function withoutUndefined(fields) {
  return /** @type {Fields} */ (Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));
}

/**
 * The difference of B from A after swapping the two.
 * @param {Question} a A before the swap @param {Question} b @param {Pick<Difference, "alignment">} difference
 * @returns {Difference}
 */
export function swapDifference(a, b, { alignment }) {
  return {
    ...fieldsThatDiffer(a, b),
    variant: fieldsThatDiffer(a.variant, b.variant),
    ...(alignment ? { alignment } : {}),
  };
}

/**
 * The fields of `one` whose values differ in `other`.
 * @template {object} Fields @param {Fields} one @param {Fields} other
 */
function fieldsThatDiffer(one, other) {
  const names = /** @type {(keyof Fields)[]} */ (Object.keys(one));
  const differing = names.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
  return /** @type {Partial<Fields>} */ (Object.fromEntries(differing.map((name) => [name, one[name]])));
}
