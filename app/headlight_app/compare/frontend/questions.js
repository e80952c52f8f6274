// The two questions: A is what the address and the sidebar say, B the same but for what was changed.

/** @import { Choice, Difference, Question, Settings } from "./types.d.ts" */

/** @param {Choice} choice @param {Settings} settings @returns {Question} */
export function questionA({ text, source, edits, patch_from, masked_positions }, settings) {
  return { ...settings, text, source, edits, patch_from, masked_positions };
}

/** Whether an edit takes a value from the run of another text. @param {string} edit */
export const isPatch = (edit) => edit.includes("=from:");

/**
 * What belongs to one text or one model alone does not go over to another, nor do patches, which take values of B.
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
 * A difference with a few things changed; what is undefined in the patch differs no more.
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
 * How B differs from A once the two have changed places.
 * @param {Question} a as it is before @param {Question} b @param {Pick<Difference, "alignment">} difference
 * @returns {Difference}
 */
export function swapDifference(a, b, { alignment }) {
  return {
    ...fieldsThatDiffer(a, b),
    variant: fieldsThatDiffer(a.variant, b.variant),
    ...(alignment ? { alignment } : {}),
  };
}

/** The fields of one that are otherwise in the other. @template {object} Fields @param {Fields} one @param {Fields} other */
function fieldsThatDiffer(one, other) {
  const names = /** @type {(keyof Fields)[]} */ (Object.keys(one));
  const differing = names.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
  return /** @type {Partial<Fields>} */ (Object.fromEntries(differing.map((name) => [name, one[name]])));
}
