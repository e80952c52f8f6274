// The choices on the Compare page, and everything derived from them without the server.

import { isPatch, questionA, questionB, swapDifference } from "./questions.ts";
import type {
  AttentionGroupAnswer,
  Choice,
  CompareRequest,
  Difference,
  HeadIndex,
  Question,
  Settings,
} from "./types.ts";

export class CompareState {
  #choice;
  #difference: Difference;
  #settings;
  #followsLargest;

  /** @param choice a layer or head below zero: no head of this model is chosen yet */
  constructor(choice: Choice, difference: Difference, settings: Settings) {
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

  /** The alignment of tokens; "": the server chooses. */
  get alignment() {
    return this.#difference.alignment || "";
  }

  /** Whether the head that differs most is shown, because none was chosen. */
  get followsLargest() {
    return this.#followsLargest && this.linked && !this.#difference.head_chosen;
  }

  get questions(): [Question, Question] {
    const a = questionA(this.#choice, this.#settings);
    return [a, questionB(a, this.#difference)];
  }

  get request(): CompareRequest {
    return { sides: this.questions, alignment: this.alignment, query: this.#choice.query };
  }

  /** Whether another state makes the same request. */
  asksSame(other: CompareState) {
    return JSON.stringify(this.request) === JSON.stringify(other.request);
  }

  change(choice: Partial<Choice>, difference: Difference = this.#difference) {
    return this.#with({ ...this.#choice, ...choice }, difference, this.#settings);
  }

  /** The state that follows the head that differs most, until the visitor chooses a head. */
  followLargest() {
    const state = this.change({});
    state.#followsLargest = true;
    return state;
  }

  /** The state with A and B swapped. */
  swapped() {
    const [a, b] = this.questions;
    const { text, source, edits, patch_from, masked_positions, ...settings } = b;
    const choice = { ...this.#choice, text, source, edits, patch_from, masked_positions, query: -1, attention: "" };
    return this.#with(choice, swapDifference(a, b, this.#difference), settings);
  }

  /**
   * Adds or removes a patch of A with a value of B's run; removes patches from texts other than B's.
   * @param field in which the questions differ
   */
  patched(edit: string, field: "text" | "source") {
    const [a, b] = this.questions;
    const kept = a.patch_from === b[field] ? a.edits : a.edits.filter((each) => !isPatch(each));
    const edits = kept.includes(edit) ? kept.filter((each) => each !== edit) : [...kept, edit];
    return this.change({ edits, patch_from: edits.some(isPatch) ? b[field] : "" });
  }

  /** Sets B's typed text; A's patches from it follow. */
  typed(typed: Partial<Pick<Difference, "text" | "source">>) {
    const { patch_from } = this.#choice;
    const [, b] = this.questions;
    const followed = (["text", "source"] as const).find(
      (name) => patch_from && name in typed && b[name] === patch_from,
    );
    const choice = followed ? { patch_from: typed[followed] } : {};
    return this.change(choice, { ...this.#difference, ...typed });
  }

  /** Chooses a head on one side, or on both if `side` is null or the sides are linked; it then stays chosen. */
  chooseHead(side: number | null, { layer, head }: HeadIndex) {
    const own = !this.linked && side !== 0 ? { layer, head } : {};
    return this.change(this.linked || side !== 1 ? { layer, head } : {}, {
      ...this.#difference,
      ...own,
      head_chosen: "1",
    });
  }

  /** Sets whether B shows the same head as A. */
  link(linked: boolean) {
    const { layer: _layer, head: _head, ...rest } = this.#difference;
    return this.change({}, linked ? rest : { ...rest, layer: this.#choice.layer, head: this.#choice.head });
  }

  /** The displayed head of a side. */
  headOf(side: number, group: AttentionGroupAnswer): HeadIndex {
    const { layer = 0, head = 0 } = side === 1 && !this.linked ? this.#difference : this.#choice;
    return { layer: Math.min(layer, group.layers - 1), head: Math.min(head, group.heads - 1) };
  }

  /** The report to Streamlit, in the field names that it returns. */
  get told() {
    const head = this.followsLargest ? { layer: -1, head: -1 } : {};
    return { ...this.#choice, ...head, ...this.#settings, side_b: this.#difference };
  }

  #with(choice: Choice, difference: Difference, settings: Settings) {
    const state = new CompareState(choice, difference, settings);
    state.#followsLargest = this.#followsLargest;
    return state;
  }
}
