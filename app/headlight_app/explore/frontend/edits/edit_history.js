// Undo and redo of edits. One stroke of a slider is one change.

/** @import { Choice } from "../types.js" */

/** @typedef {Pick<Choice, "edits" | "disabled_edits">} EditLists */

export class EditHistory {
  /** @type {EditLists[]} */
  #past = [];
  /** @type {EditLists[]} */
  #future = [];
  #restoring = false;
  #stroke = /** @type {"" | "begins" | "goes on"} */ ("");

  canUndo(/** @type {EditLists} */ { edits }) {
    return this.#past.length > 0 || edits.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  clear() {
    this.#past = [];
    this.#future = [];
    this.#stroke = "";
  }

  /** A slider is held: what follows is one change until `endStroke`. */
  beginStroke() {
    this.#stroke ||= "begins";
  }

  endStroke() {
    this.#stroke = "";
  }

  /** Remembers the lists as they were before a change. @param {EditLists} before */
  record({ edits, disabled_edits }) {
    if (this.#restoring) return;
    if (this.#stroke !== "goes on") this.#past.push({ edits, disabled_edits });
    if (this.#stroke) this.#stroke = "goes on";
    this.#future = [];
  }

  /**
   * Back by one change. What came with the address has no past: there the last edit is taken back.
   * @param {EditLists} now @param {(lists: EditLists) => void} restore
   */
  undo({ edits, disabled_edits }, restore) {
    if (!this.canUndo({ edits, disabled_edits })) return;
    this.#future.push({ edits, disabled_edits });
    this.#restore(this.#past.pop() ?? { edits: edits.slice(0, -1), disabled_edits }, restore);
  }

  /** @param {EditLists} now @param {(lists: EditLists) => void} restore */
  redo({ edits, disabled_edits }, restore) {
    const lists = this.#future.pop();
    if (!lists) return;
    this.#past.push({ edits, disabled_edits });
    this.#restore(lists, restore);
  }

  /** @param {EditLists} lists @param {(lists: EditLists) => void} restore */
  #restore(lists, restore) {
    this.#restoring = true;
    restore(lists);
    this.#restoring = false;
  }
}
