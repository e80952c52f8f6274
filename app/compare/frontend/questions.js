// The two questions: A is what the address and the sidebar say, B the same but for what was changed.

/** @import { Choice, Difference, Question, QuestionField, Settings } from "./types.d.ts" */

/** @type {QuestionField[]} */
const FIELDS = [
  "model",
  "text",
  "source",
  "masks",
  "positional_encoding",
  "attention_function",
  "scale",
  "pooling",
  "device",
  "edits",
  "masked_positions",
];

/** @param {Choice} choice @param {Settings} settings @returns {Question} */
export function questionA({ text, source, edits, masked_positions }, settings) {
  return { ...settings, text, source, edits, masked_positions };
}

/**
 * What belongs to one text or one model alone does not go over to another.
 * @param {Question} a @param {Difference} difference @returns {Question}
 */
export function questionB(a, difference) {
  const changed = Object.fromEntries(
    Object.entries(difference).filter(([name]) => FIELDS.includes(/** @type {QuestionField} */ (name))),
  );
  const b = { ...a, ...changed };
  const otherModel = b.model !== a.model;
  if (otherModel && !("edits" in changed)) b.edits = [];
  if ((otherModel || b.text !== a.text) && !("masked_positions" in changed)) b.masked_positions = [];
  return b;
}

/**
 * A difference with a few things changed; what is undefined in the patch differs no more.
 * @param {Difference} difference @param {Difference} patch @returns {Difference}
 */
export function patchDifference(difference, patch) {
  const patched = { ...difference, ...patch };
  if ("model" in patch) {
    delete patched.edits;
    delete patched.masked_positions;
  }
  return /** @type {Difference} */ (
    Object.fromEntries(Object.entries(patched).filter(([, value]) => value !== undefined))
  );
}

/**
 * How B differs from A once the two have changed places.
 * @param {Question} a as it is before @param {Question} b @param {Difference} difference @returns {Difference}
 */
export function swapDifference(a, b, { alignment }) {
  const changed = FIELDS.filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]));
  return { ...Object.fromEntries(changed.map((name) => [name, a[name]])), ...(alignment ? { alignment } : {}) };
}
