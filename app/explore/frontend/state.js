// What was chosen and answered on Explore.

import { State } from "../../../model/rendering/static/state/state.js";
import { EditHistory } from "./edits/edit_history.js";

/** @import { Choice, ExploreAnswer, ExploreCatalogue, ModelQuestion, Settings } from "./types.js" */

/** What the model is asked: what was typed, which variant of it, what is changed, and where an answer is wanted. */
export const MODEL_FIELDS = /** @type {const} */ ([
  "text",
  "source",
  "image",
  "masks",
  "positional_encoding",
  "attention_function",
  "scale",
  "edits",
  "masked_positions",
  "query",
]);

/** @extends {State<Choice, ExploreCatalogue, ExploreAnswer>} */
export class ExploreState extends State {
  history = new EditHistory();
  #problem = "";
  #answered = 0;
  settings;

  /** @param {Choice} choice @param {ExploreCatalogue} catalogue @param {Settings} settings */
  constructor(choice, catalogue, settings) {
    super(choice, catalogue);
    this.settings = settings;
  }

  /** What is wrong, in place of an answer. */
  get problem() {
    return this.#problem;
  }

  /** The number of the question that the screen answers. */
  get answered() {
    return this.#answered;
  }

  /** @returns {ModelQuestion} */
  get question() {
    const asked = Object.fromEntries(MODEL_FIELDS.map((name) => [name, this.choice[name]]));
    return { ...this.settings, .../** @type {Pick<ModelQuestion, typeof MODEL_FIELDS[number]>} */ (asked) };
  }

  /**
   * @override
   * @param {ExploreAnswer} answer
   */
  receive(answer, number = this.#answered) {
    super.receive(answer);
    this.#problem = "";
    this.#answered = number;
  }

  /** @param {string} sentence @param {number} [number] of the question that has no answer */
  fail(sentence, number = this.#answered) {
    this.#problem = sentence;
    this.#answered = number;
  }
}
