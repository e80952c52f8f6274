// Lessons: the list, a lesson step by step with a hand-in at its end, or a teacher's notes.

import {
  JOINED_EVENT,
  offerFields,
  reportAnswer,
  reportedPlace,
  reportPlace,
  roomHandIn,
} from "../../room/frontend/answers.ts";
import { defineComponent, Reporter } from "../../ui/frontend/bridge.ts";
import { HINT } from "../../ui/frontend/contract.ts";
import { saveBlob } from "../../ui/frontend/dom/clipboard.ts";
import { createButton, createElement, listenTo, updateChildren } from "../../ui/frontend/dom/dom.ts";
import { find, findAll, findByTestId } from "../../ui/frontend/dom/elements.ts";
import { createEntries } from "../../ui/frontend/dom/entries.ts";
import { listenToLeaving } from "../../ui/frontend/leaving.ts";
import { togglePresenter } from "../../ui/frontend/presenter.ts";
import { askRoute, failureText, fetchFile } from "../../ui/frontend/server.ts";
import { createHandIn } from "./hand_in.ts";
import { createLessonList } from "./lesson_list.ts";
import { createNotes } from "./notes.ts";
import { StepView } from "./step.ts";
import type { LessonChoice, LessonData, LessonRow } from "./types.ts";
import { shownWork, Work } from "./work.ts";

const OF_ANOTHER = "Work of another browser; nothing here is kept.";

class LessonPage {
  #elements;
  #data;
  #reporter;
  #endLeaving;
  #endListening;
  #choice: LessonChoice;
  #lessons: LessonRow[] = [];
  #openedAt = 0; // the step with which the lesson was opened: an address without a step leads back to it
  #work: Work | null = null;
  #step: StepView | null = null;

  constructor(place: HTMLElement, data: LessonData) {
    this.#elements = findElements(place);
    this.#data = data;
    this.#choice = data.state;
    this.#reporter = new Reporter(() => ({ ...this.#choice }));
    this.#endLeaving = listenToLeaving(place, this.#reporter);
    this.#endListening = listenTo(document, { [JOINED_EVENT]: () => this.#drawWays() });
  }

  update(data: LessonData, tell: (name: string, value: unknown) => void) {
    this.#reporter.connect(tell);
    const isOther = data.presenter !== this.#data.presenter;
    this.#data = data;
    togglePresenter(this.#elements.root, data.presenter === "1", []);
    const choice = this.#reporter.news({ ...data.state }, data.serial);
    if (choice) this.#choice = choice;
    if (choice || isOther) this.#open();
  }

  end() {
    this.#step?.end();
    this.#endLeaving();
    this.#endListening();
    offerFields();
    if (reportedPlace().startsWith("lesson/")) reportPlace(""); // the next page may have reported its own already
    this.#reporter.cancel();
  }

  async #open() {
    try {
      if (!this.#lessons.length) this.#lessons = (await askRoute(this.#data.api, "lessons", {})).meta.lessons;
      this.#say("");
    } catch (error) {
      return this.#say(failureText(error));
    }
    const lesson = this.#lessons.find(({ name }) => name === this.#choice.lesson);
    if (!lesson && this.#choice.lesson) this.#say("There is no such lesson here. Choose one of these.");
    this.#draw(lesson);
  }

  #say(sentence: string) {
    const { problem } = this.#elements;
    problem.textContent = sentence;
    problem.hidden = !sentence;
  }

  #draw(lesson: LessonRow | undefined) {
    this.#step?.end();
    this.#step = this.#work = null;
    const { root, back, title, about, body } = this.#elements;
    const isSame = root.dataset.lesson === lesson?.name;
    root.dataset.lesson = lesson?.name ?? "";
    root.classList.remove("begun");
    title.textContent = lesson?.title ?? "Lessons";
    about.textContent =
      lesson?.about ?? "A few minutes each. You are asked first; then the page shows what the model does.";
    back.replaceChildren(lesson ? createButton("plain", "← All lessons", "all-lessons", () => this.#go("")) : "");
    if (!lesson) {
      reportPlace("");
      offerFields();
      const workOn = (row: LessonRow) => new Work(localStorage, row);
      const entries = this.#lessons.map(({ question, name }): [string, string] => [question, name]);
      const asked = entries.filter(([question]) => question);
      const questions = asked.length ? createEntries(asked, (name) => this.#go(name)) : "";
      body.replaceChildren(
        questions,
        createLessonList(this.#lessons, workOn, (name) => this.#go(name)),
      );
    } else if (this.#choice.notes === "1") this.#drawNotes(lesson);
    else {
      const { lesson_step: step, lesson_work: shown } = this.#choice;
      const work = shown ? shownWork(shown, lesson) : new Work(localStorage, lesson);
      if (!isSame) this.#openedAt = work.step;
      work.go(step ? Number(step) - 1 : this.#openedAt);
      this.#drawLesson(lesson, work);
    }
  }

  /** The notes, which stay with the teacher: others who are led to this view see the lesson. */
  #drawNotes(lesson: LessonRow) {
    reportPlace(`lesson/${lesson.name}`);
    offerFields({ lesson: lesson.name, notes: "", lesson_step: "", lesson_work: "" });
    this.#elements.about.textContent = `Notes for the teacher. ${lesson.about}`;
    const { api, device } = this.#data;
    this.#elements.body.replaceChildren(createNotes(api, lesson, { model: "", device }));
  }

  #drawLesson(lesson: LessonRow, work: Work) {
    this.#work = work;
    this.#step?.end();
    const { api, pages, device, presenter } = this.#data;
    const step = work.step;
    const { model, seed } = work;
    reportPlace(placeOf(lesson, step));
    const here = { lesson: lesson.name, lesson_step: String(step + 1), lesson_work: "" };
    offerFields(here, () => ({ lesson_work: work.encoded }));
    this.#step = new StepView({
      api,
      pages,
      presenter: presenter === "1",
      request: { lesson: lesson.name, seed, step, model, device },
      tries: () => work.triesOf(step),
      commit: (answer) => this.#commit(lesson, work, step, answer),
      takeBack: () => work.takeBack(step),
      settle: (isRight) => {
        work.settle(step, isRight);
        this.#drawWays();
      },
    });
    const heading = createElement("h2", "", `${step + 1}. ${lesson.steps[step]}`, {
      testid: "step-title",
      tabIndex: -1,
    });
    this.#elements.root.classList.toggle("begun", step > 0); // the introduction has been read
    const steps = createElement("nav", "", [], { ariaLabel: "Steps", testid: "steps" });
    const head = createElement("div", "step-head", [heading, this.#createBar(lesson, work), steps]);
    const notice = createElement("p", "quiet", OF_ANOTHER, { role: "note", testid: "of-another", hidden: work.isOwn });
    this.#elements.body.replaceChildren(head, notice, this.#step.element);
    this.#drawWays();
  }

  #commit(lesson: LessonRow, work: Work, step: number, answer: string) {
    const isAsMade = !lesson.chooses_model || work.model === lesson.model;
    if (answer !== HINT && work.isOwn)
      reportAnswer(placeOf(lesson, step), answer, isAsMade ? String(work.seed) : "other");
    work.answer(step, answer);
  }

  /** The choice of a model if the lesson has one, and a link to the notes for a teacher. */
  #createBar(lesson: LessonRow, work: Work) {
    const bar = createElement("div", "lesson-bar");
    if (lesson.chooses_model) {
      const select = createElement("select", "", [], { testid: "lesson-model", ariaLabel: "The checkpoint" });
      const suited = this.#data.models.filter(({ suits }) => suits.includes(lesson.needs));
      if (!suited.some(({ name }) => name === work.model))
        select.append(new Option("No longer here: choose another", work.model, true, true));
      select.append(...suited.map(({ name, title }) => new Option(title, name, false, name === work.model)));
      select.onchange = () => {
        work.restart(select.value);
        this.#drawLesson(lesson, work);
      };
      const own = createElement("a", "quiet link", "Open one of your own", { href: `${this.#data.pages}models` });
      bar.append(createElement("label", "", ["Checkpoint ", select]), own);
    }
    if (this.#data.presenter === "1") {
      const query = new URLSearchParams({ lesson: lesson.name, notes: "1" });
      const href = `${this.#data.pages}lesson?${query}`;
      bar.append(createElement("a", "act", "Notes in a new window", { href, target: "_blank", testid: "notes" }));
    }
    return bar;
  }

  /** The way to each step and, at the end, to hand in. */
  #drawWays() {
    const lesson = this.#lessons.find(({ name }) => name === this.#choice.lesson);
    const work = this.#work;
    if (!lesson || !work) return;
    const { step } = work;
    const dots = lesson.steps.map((title, at) =>
      createDot(title, at, at === step, work.stateOf(at), () => this.#turn(at)),
    );
    updateChildren(findByTestId(this.#elements.body, "steps"), createElement("ol", "dots", dots));
    const isLast = step === lesson.steps.length - 1;
    if (isLast && !work.isOwn) return;
    const onward = isLast
      ? createHandIn(
          work,
          (name) => this.#hand(name, async (file) => saveBlob(file.name, file)),
          this.#give(lesson),
          () => this.#restart(lesson, work),
        )
      : createButton(
          `act ${work.stateOf(step) || !lesson.asks[step] ? "primary" : ""}`,
          `Next: ${lesson.steps[step + 1]} →`,
          "next-step",
          () => this.#turn(step + 1),
        );
    this.#step?.goOn(onward);
  }

  #turn(step: number) {
    const lesson = this.#lessons.find(({ name }) => name === this.#choice.lesson);
    if (!lesson || !this.#work) return;
    this.#work.go(step);
    this.#choice = { ...this.#choice, lesson_step: String(step + 1) };
    this.#reporter.changed();
    this.#drawLesson(lesson, this.#work);
    this.#elements.root.scrollIntoView();
    findByTestId(this.#elements.body, "step-title").focus({ preventScroll: true });
  }

  #restart(lesson: LessonRow, work: Work) {
    work.restart();
    this.#choice = { ...this.#choice, lesson_step: "", lesson_work: "" };
    this.#reporter.changed();
    this.#drawLesson(lesson, work);
    findByTestId(this.#elements.body, "step-title").focus();
  }

  /** Hands in to the room of this browser; null outside of one. */
  #give({ name: lesson }: LessonRow) {
    const handIn = roomHandIn();
    return handIn
      ? (name: string) => this.#hand(name, async (file) => handIn(`lesson/${lesson}`, await file.text()))
      : null;
  }

  /** Makes the hand-in file and passes it on; returns an error sentence, or "". */
  async #hand(name: string, pass: (file: File) => Promise<unknown>) {
    if (!this.#work) return "";
    const { seed, model, answers } = this.#work;
    const asked = { lesson: this.#choice.lesson, seed, model, device: this.#data.device, name, answers };
    try {
      await pass(await fetchFile(this.#data.api, "lesson_hand_in", asked));
      return "";
    } catch (error) {
      return failureText(error);
    }
  }

  #go(lesson: string) {
    this.#choice = { ...this.#choice, lesson, lesson_step: "", lesson_work: "" };
    this.#reporter.changed();
    this.#open();
    this.#elements.title.tabIndex = -1;
    this.#elements.title.focus();
  }
}

function placeOf({ name }: LessonRow, step: number) {
  return `lesson/${name}/${step}`;
}

function createDot(title: string, at: number, isCurrent: boolean, state: string, turn: () => void) {
  const words = { right: "answered", told: "answer seen", "": "" }[state] ?? "";
  const dot = createButton(`step-button ${state}`.trim(), state === "right" ? "✓" : String(at + 1), `dot-${at}`, turn);
  dot.title = dot.ariaLabel = [`Step ${at + 1}: ${title}`, words].filter(Boolean).join(", ");
  if (isCurrent) dot.ariaCurrent = "step";
  return createElement("li", "", [dot]);
}

function findElements(place: HTMLElement) {
  return {
    root: find(place, ".instrument"),
    ...findAll(place, ["back", "title", "about", "problem", "body"], undefined, "lesson-"),
  };
}

export default defineComponent((place, data: LessonData) => new LessonPage(place, data));
