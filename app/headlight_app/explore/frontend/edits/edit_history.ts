// Undo and redo of all changes to the model: edits and replaced parts. One slider movement is one change.

import { AS_TRAINED } from "../../../ui/frontend/contract.ts";
import type { Choice } from "../types.ts";

export type EditLists = Pick<Choice, "edits" | "disabled_edits">;
export type Changes = Pick<Choice, "edits" | "disabled_edits" | "variant">;

const STROKE = 1000; // milliseconds within which choices of the same part count as one change

/** The number of changes. */
export function countChanges({ edits, variant }: Pick<Changes, "edits" | "variant">) {
  return edits.length + Object.values(variant).filter(Boolean).length;
}

export class EditHistory {
  /** Counts changes, and each time that one is undone or made again; all of a stroke is one. */
  changes = 0;
  #past: Changes[] = [];
  #future: Changes[] = [];
  #restoring = false;
  #stroke = "" as "" | "begins" | "goes on";
  /** When a part of the model was last replaced. */
  #replaced = Number.NEGATIVE_INFINITY;

  canUndo(now: Changes) {
    return this.#past.length > 0 || countChanges(now) > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  clear() {
    this.changes++;
    this.#past = [];
    this.#future = [];
    this.#stroke = "";
    this.#replaced = Number.NEGATIVE_INFINITY;
  }

  /** A slider is being moved: everything until `endStroke` is one change. */
  beginStroke() {
    this.#stroke ||= "begins";
  }

  endStroke() {
    this.#stroke = "";
  }

  /** Records the state before a change; parts replaced in quick succession count as one change. */
  record({ edits, disabled_edits, variant }: Changes, ofPart: boolean = false, time: number = Date.now()) {
    if (this.#restoring) return;
    const goesOn = this.#stroke === "goes on" || (ofPart && time - this.#replaced < STROKE);
    if (!goesOn) {
      this.changes++;
      this.#past.push({ edits, disabled_edits, variant });
    }
    if (this.#stroke) this.#stroke = "goes on";
    this.#replaced = ofPart ? time : Number.NEGATIVE_INFINITY;
    this.#future = [];
  }

  /** Undoes one change. Changes from the address have no history: the last edit is removed first, then all parts. */
  undo({ edits, disabled_edits, variant }: Changes, restore: (changes: Changes) => void) {
    if (!this.canUndo({ edits, disabled_edits, variant })) return;
    this.#future.push({ edits, disabled_edits, variant });
    const without = edits.length
      ? { edits: edits.slice(0, -1), disabled_edits, variant }
      : { edits, disabled_edits, variant: AS_TRAINED };
    this.#restore(this.#past.pop() ?? without, restore);
  }

  redo({ edits, disabled_edits, variant }: Changes, restore: (changes: Changes) => void) {
    const changes = this.#future.pop();
    if (!changes) return;
    this.#past.push({ edits, disabled_edits, variant });
    this.#restore(changes, restore);
  }

  #restore(changes: Changes, restore: (changes: Changes) => void) {
    this.changes++;
    this.#restoring = true;
    restore(changes);
    this.#restoring = false;
    this.#replaced = Number.NEGATIVE_INFINITY;
  }
}
