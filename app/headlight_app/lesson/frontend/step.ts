// One step of a lesson: its text, its question with hints, and beside them the view it refers to.

import { createQuestion } from "../../course/frontend/question.ts";
import { announce } from "../../ui/frontend/dom/announce.ts";
import { activeElement, createElement } from "../../ui/frontend/dom/dom.ts";
import { Questions, showProblem } from "../../ui/frontend/questions.ts";
import type { StepAnswer, StepRequest } from "./types.ts";

const FIRST_ANSWER = ".question :is(input, button:not(:disabled))"; // it receives the focus of the answered question

/** The interface of the page for a step. */
interface StepPlace {
  api: string;
  pages: string; // the address of all pages
  presenter: boolean;
  request: Pick<StepRequest, "lesson" | "seed" | "step" | "model" | "device">;
  tries: () => string[]; // the learner's answers so far
  commit: (answer: string) => void; // takes an answer, a hint or giving up
  takeBack: () => void; // the server did not receive the answer
  settle: (isRight: boolean) => void; // the question is settled
}

export class StepView {
  element = createElement("div", "lesson-step", [], { testid: "step" });
  #place;
  #questions;
  #prose = createElement("div", "step-text");
  #asked = createElement("div", "step-question");
  #problem = createElement("p", "problem", [], { role: "alert", testid: "step-problem", hidden: true });
  #onward = createElement("div", "step-onward");
  #view = createElement("div", "step-view", [], { testid: "step-view" });
  #shown = "";

  constructor(place: StepPlace) {
    this.#place = place;
    this.#questions = new Questions(place.api);
    const text = createElement("div", "step-ask", [this.#prose, this.#asked, this.#problem, this.#onward]);
    this.element.append(text, this.#view);
    this.#ask(false);
  }

  /** Places the button for the next step below the question. */
  goOn(way: HTMLElement) {
    this.#onward.replaceChildren(way);
  }

  end() {
    this.#questions.stop();
  }

  #commit(answer: string) {
    this.#place.commit(answer);
    this.#ask(true);
  }

  /** @param isAnswer whether the learner has just answered */
  async #ask(isAnswer: boolean) {
    this.element.ariaBusy = "true";
    const tries = this.#place.tries();
    const show = (sentence: string) => showProblem({ problem: this.#problem, answer: this.#asked }, sentence);
    const found = await this.#questions.ask("lesson_step", { ...this.#place.request, tries }, show);
    if (!found) return;
    this.element.ariaBusy = "false";
    show("problem" in found ? found.problem : "");
    if ("problem" in found) return isAnswer ? this.#place.takeBack() : undefined;
    const answer = found.meta as StepAnswer;
    if (answer.question?.is_settled) this.#place.settle(answer.question.is_right);
    this.#draw(answer, tries);
  }

  #draw({ prose, text, view, opens_after: opensAfter, question }: StepAnswer, tries: string[]) {
    const read = text ? [createElement("p", "read", ["The text: ", createElement("bdi", "token", text)])] : [];
    this.#prose.replaceChildren(...prose.map((each) => createElement("p", "lesson", each)), ...read);
    const isFocused = this.#asked.contains(activeElement(this.#asked));
    const drawn = question ? [createQuestion(question, (given) => this.#commit(given))] : [];
    this.#asked.replaceChildren(...drawn);
    const next = isFocused ? (this.#asked.querySelector(FIRST_ANSWER) ?? this.#asked.querySelector(".question")) : null;
    if (next instanceof HTMLElement) next.focus();
    if (question && tries.length) announce(this.element, question.said || (question.hints.at(-1) ?? ""));
    this.#drawView(view, opensAfter);
  }

  /** Draws the view, or keeps it while its address stays the same, so that the learner's changes are not lost. */
  #drawView(view: string, opensAfter: boolean) {
    this.element.classList.toggle("alone", !view && !opensAfter);
    if (view === this.#shown && this.#view.childElementCount) return;
    this.#shown = view;
    if (!view) {
      const words = opensAfter ? "The view opens here once you have answered." : "";
      return this.#view.replaceChildren(createElement("p", "waits quiet", words, { hidden: !words }));
    }
    const address = this.#place.pages + view;
    const more = this.#place.presenter ? "&embedded=1&presenter=1" : "&embedded=1";
    const frame = createElement("iframe", "", [], { title: "The view of this step", src: address + more });
    const link = createElement("a", "quiet link", "Open this view in a new window", {
      href: address,
      target: "_blank",
    });
    this.#view.replaceChildren(frame, link);
  }
}
