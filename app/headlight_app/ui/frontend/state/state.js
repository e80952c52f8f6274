// Choices, answers, and the cell under the pointer. All parts read it; only its methods change it.

/** @import { Answer, Catalogue, DisplayChoice, Head, Pointer } from "../types.js" */

/** The display before any choice. @type {DisplayChoice} */
export const DEFAULT_CHOICE = {
  attention: "",
  layer: 0,
  head: 0,
  heads: [],
  sort: "layer",
  quantity: "weights",
  other_head: "",
  other_text: "",
  head_reduction: "mean",
  unit: "tokens",
  top_mass: 100,
  hide: "",
  renormalize: "",
  segments: "",
  zoom: "",
  plot: "heatmap",
  panel_size: "panel",
  colour_range: "full",
  query: -1,
  key: -1,
  pinned: [],
  target_token: -1,
  edits: [],
  patch_from: "",
  masked_positions: [],
};

/**
 * @template {DisplayChoice} [Choice=DisplayChoice] @template {Catalogue} [Options=Catalogue]
 * @template {Answer} [Result=Answer]
 */
export class State {
  /** Counts changes of the choice. */
  revision = 0;
  /** @type {Readonly<Choice>} */
  #choice;
  /** @type {Options} */
  catalogue;
  /** @type {Result | null} */
  #answer = null;
  /** @type {Pointer | null} */
  #pointer = null;
  /** @type {Head | null} */
  #focus = null;

  /** @param {Choice} choice @param {Options} catalogue */
  constructor(choice, catalogue) {
    this.#choice = choice;
    this.catalogue = catalogue;
  }

  get choice() {
    return this.#choice;
  }

  /** The answer on the screen; throws if there is none. Before the first answer, use `latestAnswer`. */
  get answer() {
    if (!this.#answer) throw new Error("There is no answer yet.");
    return this.#answer;
  }

  get latestAnswer() {
    return this.#answer;
  }

  get pointer() {
    return this.#pointer;
  }

  /** The head with the keyboard focus, if it is not the selected one. */
  get focus() {
    return this.#focus;
  }

  /** @param {Partial<Choice>} patch */
  update(patch) {
    this.#choice = { ...this.#choice, ...patch };
    this.#pointer = null;
    this.revision++;
  }

  /** Replaces all choices, from another source. @param {Choice} choice */
  replace(choice) {
    this.#choice = { ...choice };
    this.#focus = null;
  }

  /**
   * Resets choices that do not fit the answer, without reporting a change.
   * @param {Partial<Choice>} patch
   */
  correct(patch) {
    this.#choice = { ...this.#choice, ...patch };
  }

  /** @param {Result} answer */
  receive(answer) {
    this.#answer = answer;
  }

  /** @param {Pointer | null} pointer */
  point(pointer) {
    this.#pointer = pointer;
  }

  /** @param {Head | null} head */
  focusHead(head) {
    this.#focus = head;
  }
}
