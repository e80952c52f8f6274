// What is chosen on the Compare page, and what follows from it without a server.

import { isPatch, questionA, questionB, swapDifference } from "./questions.js";

/** @import { AttentionGroupAnswer, Choice, CompareRequest, Difference, HeadIndex, Question, Settings } from "./types.d.ts" */

export class CompareState {
  #choice;
  /** @type {Difference} */
  #difference;
  #settings;
  #followsLargest;

  /**
   * @param {Choice} choice a layer or head below zero: no head of this model was chosen yet
   * @param {Difference} difference @param {Settings} settings
   */
  constructor(choice, difference, settings) {
    this.#followsLargest = Math.max(choice.layer, choice.head) < 0;
    this.#choice = { ...choice, layer: Math.max(choice.layer, 0), head: Math.max(choice.head, 0) };
    const { head_chosen: _chosen, ...others } = difference;
    this.#difference = this.#followsLargest ? others : difference;
    this.#settings = settings;
  }

  get choice() {
    return this.#choice;
  }

  get difference() {
    return this.#difference;
  }

  /** Whether both sides show the same head. */
  get linked() {
    return !("layer" in this.#difference && "head" in this.#difference);
  }

  /** How tokens are matched; "": as the server chooses. */
  get alignment() {
    return this.#difference.alignment || "";
  }

  /** Whether the head that differs most is the chosen one, because no other was chosen. */
  get followsLargest() {
    return this.#followsLargest && this.linked && !this.#difference.head_chosen;
  }

  /** @returns {[Question, Question]} */
  get questions() {
    const a = questionA(this.#choice, this.#settings);
    return [a, questionB(a, this.#difference)];
  }

  /** @returns {CompareRequest} */
  get request() {
    return { sides: this.questions, alignment: this.alignment, query: this.#choice.query };
  }

  /** Whether the models would answer another question the same way. @param {CompareState} other */
  asksSame(other) {
    return JSON.stringify(this.request) === JSON.stringify(other.request);
  }

  /** @param {Partial<Choice>} choice @param {Difference} difference */
  change(choice, difference = this.#difference) {
    return this.#with({ ...this.#choice, ...choice }, difference, this.#settings);
  }

  /** Chosen anew by the head that differs most, until a person chooses one. */
  followLargest() {
    const state = this.change({});
    state.#followsLargest = true;
    return state;
  }

  /** A becomes B, and B becomes A. */
  swapped() {
    const [a, b] = this.questions;
    const { text, source, edits, patch_from, masked_positions, ...settings } = b;
    const choice = { ...this.#choice, text, source, edits, patch_from, masked_positions, query: -1, attention: "" };
    return this.#with(choice, swapDifference(a, b, this.#difference), settings);
  }

  /**
   * A takes a value of B's run, or gives it back. Patches from another text than B's go.
   * @param {string} edit @param {"text" | "source"} field of the questions that tells the runs apart
   */
  patched(edit, field) {
    const [a, b] = this.questions;
    const kept = a.patch_from === b[field] ? a.edits : a.edits.filter((each) => !isPatch(each));
    const edits = kept.includes(edit) ? kept.filter((each) => each !== edit) : [...kept, edit];
    return this.change({ edits, patch_from: edits.some(isPatch) ? b[field] : "" });
  }

  /** B's text is typed; what A takes from it follows. @param {Partial<Pick<Difference, "text" | "source">>} typed */
  typed(typed) {
    const { patch_from } = this.#choice;
    const [, b] = this.questions;
    const followed = /** @type {const} */ (["text", "source"]).find(
      (name) => patch_from && name in typed && b[name] === patch_from,
    );
    const choice = followed ? { patch_from: typed[followed] } : {};
    return this.change(choice, { ...this.#difference, ...typed });
  }

  /**
   * A head is chosen on one side, or (side null, or linked) on both. From then on the page keeps it.
   * @param {number | null} side @param {HeadIndex} head
   */
  chooseHead(side, { layer, head }) {
    const own = !this.linked && side !== 0 ? { layer, head } : {};
    return this.change(this.linked || side !== 1 ? { layer, head } : {}, {
      ...this.#difference,
      ...own,
      head_chosen: "1",
    });
  }

  /** Whether B shows the same head as A, or one of its own. @param {boolean} linked */
  link(linked) {
    const { layer: _layer, head: _head, ...rest } = this.#difference;
    return this.change({}, linked ? rest : { ...rest, layer: this.#choice.layer, head: this.#choice.head });
  }

  /** The head that one side shows. @param {number} side @param {AttentionGroupAnswer} group @returns {HeadIndex} */
  headOf(side, group) {
    const { layer = 0, head = 0 } = side === 1 && !this.linked ? this.#difference : this.#choice;
    return { layer: Math.min(layer, group.layers - 1), head: Math.min(head, group.heads - 1) };
  }

  /** The report to Streamlit, by the names that it hands back. */
  get told() {
    const head = this.followsLargest ? { layer: -1, head: -1 } : {};
    return { ...this.#choice, ...head, ...this.#settings, side_b: this.#difference };
  }

  /** @param {Choice} choice @param {Difference} difference @param {Settings} settings */
  #with(choice, difference, settings) {
    const state = new CompareState(choice, difference, settings);
    state.#followsLargest = this.#followsLargest;
    return state;
  }
}
