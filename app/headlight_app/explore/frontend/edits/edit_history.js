// Undo and redo of all that is changed of the model: edits, and parts in place of its own. One stroke of a slider is one
// change.

/** @import { Choice } from "../types.js" */

/** @typedef {Pick<Choice, "edits" | "disabled_edits">} EditLists */
/** @typedef {Pick<Choice, "edits" | "disabled_edits" | "variant">} Changes */

const STROKE = 1000; // milliseconds in which choices of the same part are one change

export const AS_TRAINED = { masks: "", positional_encoding: "", attention_function: "", scale: "", pooling: "" };

/** How many changes there are. @param {Pick<Changes, "edits" | "variant">} changes */
export function countChanges({ edits, variant }) {
  return edits.length + Object.values(variant).filter(Boolean).length;
}

export class EditHistory {
  /** @type {Changes[]} */
  #past = [];
  /** @type {Changes[]} */
  #future = [];
  #restoring = false;
  #stroke = /** @type {"" | "begins" | "goes on"} */ ("");
  /** When a part of the model was last replaced. */
  #replaced = Number.NEGATIVE_INFINITY;

  canUndo(/** @type {Changes} */ now) {
    return this.#past.length > 0 || countChanges(now) > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  clear() {
    this.#past = [];
    this.#future = [];
    this.#stroke = "";
    this.#replaced = Number.NEGATIVE_INFINITY;
  }

  /** A slider is held: what follows is one change until `endStroke`. */
  beginStroke() {
    this.#stroke ||= "begins";
  }

  endStroke() {
    this.#stroke = "";
  }

  /**
   * Remembers what was changed before another change; parts that are replaced in quick turn are one.
   * @param {Changes} before @param {boolean} [ofPart] @param {number} [time]
   */
  record({ edits, disabled_edits, variant }, ofPart = false, time = Date.now()) {
    if (this.#restoring) return;
    const goesOn = this.#stroke === "goes on" || (ofPart && time - this.#replaced < STROKE);
    if (!goesOn) this.#past.push({ edits, disabled_edits, variant });
    if (this.#stroke) this.#stroke = "goes on";
    this.#replaced = ofPart ? time : Number.NEGATIVE_INFINITY;
    this.#future = [];
  }

  /**
   * Back by one change. What came with the address has no past: there the last edit is taken back, then all parts.
   * @param {Changes} now @param {(changes: Changes) => void} restore
   */
  undo({ edits, disabled_edits, variant }, restore) {
    if (!this.canUndo({ edits, disabled_edits, variant })) return;
    this.#future.push({ edits, disabled_edits, variant });
    const without = edits.length
      ? { edits: edits.slice(0, -1), disabled_edits, variant }
      : { edits, disabled_edits, variant: AS_TRAINED };
    this.#restore(this.#past.pop() ?? without, restore);
  }

  /** @param {Changes} now @param {(changes: Changes) => void} restore */
  redo({ edits, disabled_edits, variant }, restore) {
    const changes = this.#future.pop();
    if (!changes) return;
    this.#past.push({ edits, disabled_edits, variant });
    this.#restore(changes, restore);
  }

  /** @param {Changes} changes @param {(changes: Changes) => void} restore */
  #restore(changes, restore) {
    this.#restoring = true;
    restore(changes);
    this.#restoring = false;
    this.#replaced = Number.NEGATIVE_INFINITY;
  }
}
