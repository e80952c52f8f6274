// What was chosen and answered on Explore.

import { State } from "../../../model/rendering/static/state/state.js";
import { EditHistory } from "./edits/edit_history.js";

/** @import { AskedQuestion, Choice, ExploreAnswer, ExploreCatalogue, ModelQuestion, Settings, ToldChoice } from "./types.js" */

/** What the model is asked: what was typed, which variant of it, what is changed, and where an answer is wanted. */
export const MODEL_FIELDS = /** @type {const} */ ([
  "text",
  "source",
  "image",
  "masks",
  "positional_encoding",
  "attention_function",
  "scale",
  "pooling",
  "edits",
  "masked_positions",
  "query",
]);

/** @extends {State<Choice, ExploreCatalogue, ExploreAnswer>} */
export class ExploreState extends State {
  history = new EditHistory();
  /** Whether the target is the model's own: an encoder-decoder writes it until somebody types one. */
  writesTarget;
  #problem = "";
  #answered = 0;
  settings;

  /** @param {ToldChoice} told @param {ExploreCatalogue} catalogue @param {Settings} settings */
  constructor(told, catalogue, settings) {
    super({ ...told, text: told.text ?? catalogue.opening.text }, catalogue);
    this.writesTarget = told.text === null;
    this.settings = settings;
  }

  /** What was chosen, as Streamlit and links say it. @returns {ToldChoice} */
  get told() {
    return { ...this.choice, text: this.writesTarget ? null : this.choice.text };
  }

  /** A whole new choice, as Streamlit says it. @param {ToldChoice} told */
  adopt(told) {
    this.writesTarget = told.text === null;
    this.replace({ ...told, text: told.text ?? this.catalogue.opening.text });
  }

  /** What is wrong, in place of an answer. */
  get problem() {
    return this.#problem;
  }

  /** The number of the question that the screen answers. */
  get answered() {
    return this.#answered;
  }

  /** @returns {AskedQuestion} */
  get question() {
    const asked = Object.fromEntries(MODEL_FIELDS.map((name) => [name, this.choice[name]]));
    return {
      ...this.settings,
      .../** @type {Pick<ModelQuestion, typeof MODEL_FIELDS[number]>} */ (asked),
      text: this.writesTarget ? this.#writtenTarget() : this.choice.text,
    };
  }

  /** What the model writes for the source, where that is known already. */
  #writtenTarget() {
    const { opening, examples, images } = this.catalogue;
    if (images) return null;
    return [opening, ...examples].find(({ source }) => source === this.choice.source)?.text ?? null;
  }

  /**
   * @override
   * @param {ExploreAnswer} answer
   */
  receive(answer, number = this.#answered) {
    super.receive(answer);
    if (this.writesTarget) this.correct({ text: answer.question.text });
    this.#problem = "";
    this.#answered = number;
  }

  /** @param {string} sentence @param {number} [number] of the question that has no answer */
  fail(sentence, number = this.#answered) {
    this.#problem = sentence;
    this.#answered = number;
  }
}
