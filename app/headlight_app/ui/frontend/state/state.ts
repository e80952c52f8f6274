// Choices, answers, and the cell under the pointer. All parts read it; only its methods change it.

import type { Answer, Catalogue, DisplayChoice, Head, Pointer } from "../types.ts";

export class State<
  Choice extends DisplayChoice = DisplayChoice,
  Options extends Catalogue = Catalogue,
  Result extends Answer = Answer,
> {
  /** Counts changes of the choice. */
  revision = 0;
  #choice: Readonly<Choice>;
  catalogue: Options;
  #answer: Result | null = null;
  #pointer: Pointer | null = null;
  #focus: Head | null = null;

  constructor(choice: Choice, catalogue: Options) {
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

  update(patch: Partial<Choice>) {
    this.#choice = { ...this.#choice, ...patch };
    this.#pointer = null;
    this.revision++;
  }

  /** Replaces all choices, from another source. */
  replace(choice: Choice) {
    this.#choice = { ...choice };
    this.#focus = null;
  }

  /** Resets choices that do not fit the answer, without reporting a change. */
  correct(patch: Partial<Choice>) {
    this.#choice = { ...this.#choice, ...patch };
  }

  receive(answer: Result) {
    this.#answer = answer;
  }

  point(pointer: Pointer | null) {
    this.#pointer = pointer;
  }

  focusHead(head: Head | null) {
    this.#focus = head;
  }
}
