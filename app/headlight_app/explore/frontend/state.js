// What was chosen and answered on Explore.

import { State } from "../../ui/frontend/state/state.js";
import { EditHistory } from "./edits/edit_history.js";

/** @import { Choice, ExploreAnswer, ExploreCatalogue, Settings, ToldChoice, TraceRequest } from "./types.js" */
/** @import { Question } from "../../ui/frontend/contract.js" */

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

  /** What the model is asked, of all that was chosen. @returns {Question} */
  get question() {
    const chosen = { ...this.choice, ...this.settings };
    const fields = this.catalogue.question_fields.map((name) => [name, chosen[name]]);
    return /** @type {Question} */ (Object.fromEntries(fields));
  }

  /** What asks for all heads; a target that is not known yet is written by the model. @returns {TraceRequest} */
  get traceRequest() {
    const text = this.writesTarget ? this.#writtenTarget() : this.choice.text;
    return { question: { ...this.question, text: text ?? "" }, query: this.choice.query, writes_target: text === null };
  }

  /** Whether a change concerns the model. @param {Partial<Choice>} patch */
  asks(patch) {
    return [...this.catalogue.question_fields, "query"].some((name) => name in patch);
  }

  /** What the model writes for the source, where that is known already. */
  #writtenTarget() {
    const { opening, examples, images } = this.catalogue;
    if (images) return null;
    return [opening, ...examples].find(({ source }) => source === this.choice.source)?.text ?? null;
  }

  /**
   * Edits have the names of the answer from then on: a link may name values as TransformerLens does.
   * @override
   * @param {ExploreAnswer} answer
   */
  receive(answer, number = this.#answered) {
    super.receive(answer);
    this.correct({ edits: answer.question.edits });
    if (this.writesTarget) this.correct({ text: answer.question.text });
    this.#problem = "";
    this.#answered = number;
  }

  /**
   * Without an answer nobody knows what the model writes: the text of another question is not it.
   * @param {string} sentence @param {number} [number] of the question that has no answer
   */
  fail(sentence, number = this.#answered) {
    if (this.writesTarget && number !== this.#answered) this.correct({ text: this.#writtenTarget() ?? "" });
    this.#problem = sentence;
    this.#answered = number;
  }
}
