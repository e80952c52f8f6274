// The choices and answers on Explore.

import type { Question } from "../../ui/frontend/contract.ts";
import { QUESTION_FIELDS } from "../../ui/frontend/contract.ts";
import { State } from "../../ui/frontend/state/state.ts";
import { EditHistory } from "./edits/edit_history.ts";
import { answerBefore } from "./prediction/what_changed.ts";
import type { Choice, ExploreAnswer, ExploreCatalogue, Settings, ToldChoice, TraceRequest } from "./types.ts";

export class ExploreState extends State<Choice, ExploreCatalogue, ExploreAnswer> {
  history = new EditHistory();
  /** Whether an encoder-decoder generates the target, until the visitor types one. */
  writesTarget;
  /** Whether the box of the second text is open although it is empty. */
  opensPair = false;
  /** The answer before the last change of the model. */
  answerBefore: ExploreAnswer | null = null;
  #problem = "";
  #answered = 0;
  /** The number of changes at the last answer. */
  #changes = 0;
  settings;

  constructor(told: ToldChoice, catalogue: ExploreCatalogue, settings: Settings) {
    super({ ...told, text: told.text ?? catalogue.opening.text }, catalogue);
    this.writesTarget = told.text === null;
    this.settings = settings;
  }

  /** The choice in the format of Streamlit and links. */
  get told(): ToldChoice {
    return { ...this.choice, text: this.writesTarget ? null : this.choice.text };
  }

  /** Replaces the whole choice by one from Streamlit. */
  adopt(told: ToldChoice) {
    this.writesTarget = told.text === null;
    this.replace({ ...told, text: told.text ?? this.catalogue.opening.text });
  }

  /** The problem shown instead of an answer. */
  get problem() {
    return this.#problem;
  }

  /** The number of the question whose answer or problem is displayed. */
  get answered() {
    return this.#answered;
  }

  /** The part of the choice that forms the question to the model. */
  get question(): Question {
    const chosen = { ...this.choice, ...this.settings };
    const fields = QUESTION_FIELDS.map((name) => [name, chosen[name]]);
    return Object.fromEntries(fields) as Question;
  }

  /** The request for all heads; the model generates the target if it is not known yet. */
  get traceRequest(): TraceRequest {
    const text = this.writesTarget ? this.#writtenTarget() : this.choice.text;
    return { question: { ...this.question, text: text ?? "" }, query: this.choice.query, writes_target: text === null };
  }

  /** Whether a change requires a new answer. */
  asks(patch: Partial<Choice>) {
    return [...QUESTION_FIELDS, "query"].some((name) => name in patch);
  }

  /** The model's target for the source, if already known. */
  #writtenTarget() {
    const { opening, examples, images } = this.catalogue;
    if (images) return null;
    return [opening, ...examples].find(({ source }) => source === this.choice.source)?.text ?? null;
  }

  /** Adopts the edit names of the answer: a link may use TransformerLens names. */
  receive(answer: ExploreAnswer, number = this.#answered) {
    const { changes } = this.history;
    this.answerBefore = answerBefore(this.latestAnswer, answer, this.answerBefore, changes === this.#changes);
    this.#changes = changes;
    super.receive(answer);
    this.correct({ edits: answer.question.edits });
    if (this.writesTarget) this.correct({ text: answer.question.text });
    this.#problem = "";
    this.#answered = number;
  }

  /**
   * Records a problem. The generated target is then unknown, because the previous one belongs to another question.
   * @param number of the failed question
   */
  fail(sentence: string, number: number = this.#answered) {
    if (this.writesTarget && number !== this.#answered) this.correct({ text: this.#writtenTarget() ?? "" });
    this.#problem = sentence;
    this.#answered = number;
  }
}
