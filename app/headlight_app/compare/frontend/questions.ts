// The two questions: A is from the address and the sidebar, B is A with its differences.

import type { Choice, Difference, Question, Settings } from "./types.ts";

export function questionA({ text, source, edits, patch_from, masked_positions }: Choice, settings: Settings): Question {
  return { ...settings, text, source, edits, patch_from, masked_positions };
}

/** Whether an edit takes a value from the run of another text. */
export const isPatch = (edit: string) => edit.includes("=from:");

/** The question of B. Edits of another model, masks of another text, and patches are not copied from A. */
export function questionB(
  a: Question,
  { variant, alignment: _by, layer: _layer, head: _head, head_chosen: _chosen, ...own }: Difference,
): Question {
  const b = { ...a, ...own, variant: { ...a.variant, ...variant } };
  const otherModel = b.model !== a.model;
  if (!("edits" in own)) b.edits = otherModel ? [] : a.edits.filter((edit) => !isPatch(edit));
  if ((otherModel || b.text !== a.text) && !("masked_positions" in own)) b.masked_positions = [];
  return b;
}

/** A difference with a patch applied; undefined fields of the patch are removed from it. */
export function patchDifference(difference: Difference, patch: Partial<Difference>): Difference {
  const variant = withoutUndefined({ ...difference.variant, ...patch.variant });
  const patched = { ...difference, ...patch, variant };
  if ("model" in patch) {
    delete patched.edits;
    delete patched.masked_positions;
  }
  return withoutUndefined(patched);
}

function withoutUndefined<Fields extends object>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}

/** The difference of B from A after swapping the two. @param a A before the swap */
export function swapDifference(a: Question, b: Question, { alignment }: Pick<Difference, "alignment">): Difference {
  return {
    ...fieldsThatDiffer(a, b),
    variant: fieldsThatDiffer(a.variant, b.variant),
    ...(alignment ? { alignment } : {}),
  };
}

/** The fields of `one` whose values differ in `other`. */
function fieldsThatDiffer<Fields extends object>(one: Fields, other: Fields) {
  const names = Object.keys(one) as (keyof Fields)[];
  const differing = names.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
  return Object.fromEntries(differing.map((name) => [name, one[name]])) as Partial<Fields>;
}
