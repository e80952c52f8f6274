// One screen: its lesson, its controls, and the views that the server computes for them.

import { reportAnswer } from "../../room/frontend/answers.ts";
import { GIVE_UP, HINT } from "../../ui/frontend/contract.ts";
import { announce } from "../../ui/frontend/dom/announce.ts";
import { activeElement, createButton, createElement } from "../../ui/frontend/dom/dom.ts";
import { titleNodes } from "../../ui/frontend/formulas/formula.ts";
import { createFormulas } from "../../ui/frontend/formulas/formulas.ts";
import { Questions, showProblem } from "../../ui/frontend/questions.ts";
import { createRows } from "../../ui/frontend/views/rows.ts";
import type { LinkTo } from "../../ui/frontend/views/types.ts";
import { ControlBoard } from "./controls/control_board.ts";
import type { Inputs } from "./inputs.ts";
import { createQuestion, isGoal } from "./question.ts";
import { createReadAloud } from "./read_aloud.ts";
import type { AskedQuestion, Control, CourseModel, ScreenAnswer, ScreenRequest, ScreenRow } from "./types.ts";

const LONG = "Press Run: it takes some seconds, and asks you a question before it shows the results.";
const FIRST_ANSWER = ".question:not(.settled) :is(input, button:not(:disabled))"; // receives the focus after an answer

/** The parts of the page that a screen needs. */
interface ScreenPlace {
  api: string;
  pages: string; // the address of all pages
  models: CourseModel[];
  request: Pick<ScreenRequest, "chapter" | "device">;
  room: string; // a room's name for the screen
  inputs: () => Record<string, string>; // the text of each control
  change: (patch: Inputs) => void;
  linkTo: LinkTo; // a link to another screen
  asksFirst: () => boolean; // whether the question comes before the results
  finish: () => void; // called when the question is settled
  createNext: (isAgain: boolean) => HTMLElement | null; // a button to the next screen, the first one or a second
  formulasLast: boolean; // whether formulas follow the results, as on the core path
}

export class ScreenView {
  row;
  element;
  #place;
  #questions;
  #board;
  #parts;
  #answer: ScreenAnswer | null = null;
  #running = false;
  /** The learner's answers for these inputs. */
  #tries: string[] = [];
  /** Earlier questions as they were settled, for other inputs: their verdicts stay while changes answer the last one. */
  #settled: AskedQuestion[] = [];
  /** Whether the learner has requested the question although the screen is done. */
  #again = false;
  #fold = { isOpen: false };
  #clock: ReturnType<typeof setInterval> | undefined;

  constructor(row: ScreenRow, place: ScreenPlace) {
    this.row = row;
    this.#place = place;
    this.#questions = new Questions(place.api);
    this.#board = new ControlBoard(row.controls, place.models, place.api, (patch) => this.#change(patch));
    this.#parts = createParts(row, place);
    this.element = this.#parts.element;
    this.#parts.controls.replaceWith(this.#board.element);
    this.#parts.run.onclick = () => (this.#running ? this.#stop() : this.#ask());
    this.#board.draw(place.inputs());
  }

  /** Call when the screen is near the window: requests its numbers. */
  begin() {
    if (!this.#answer && !this.row.is_long) this.#ask();
  }

  end() {
    this.#questions.stop();
    clearInterval(this.#clock);
  }

  /** Requests the screen again, after the learner has changed whether questions come first. */
  restart() {
    this.#tries = [];
    this.#again = false;
    if (this.#answer) this.#ask();
  }

  #try(answer: string) {
    if (answer !== HINT) reportAnswer(this.#place.room, answer, this.#variant);
    this.#tries = [...this.#tries, answer];
    this.#ask();
  }

  /** What was asked: the screen as it opens, or a changed one; a goal is reached by changing it. */
  get #variant() {
    const question = this.#answer?.question;
    const inputs = this.#place.inputs();
    const isChanged = this.row.controls.some((control) => inputs[control.name] !== control.default);
    return isChanged && !(question && isGoal(question)) ? "other" : "";
  }

  #change(patch: Inputs) {
    this.#tries = [];
    this.#place.change(patch);
    this.#board.draw(this.#place.inputs());
    if (this.row.is_long) return this.#stop();
    const question = this.#parts.rows.querySelector(".question");
    if (question instanceof HTMLElement) question.inert = true; // it is about the previous inputs, and will be replaced
    this.#ask();
  }

  #stop() {
    this.#questions.stop();
    this.#setRunning(false);
  }

  async #ask() {
    const inputs = this.#place.inputs();
    this.#setRunning(true);
    const asks = this.#again || this.#tries.length > 0 || this.#place.asksFirst();
    if (asks && !this.#tries.length) {
      this.#tries = keptTries(this.#answer);
      this.#settled = this.#tries.length && this.#answer ? this.#answer.answered : [];
    }
    const asked = { ...this.#place.request, ...screenRequest(this.row, inputs), asks, tries: this.#tries };
    const found = await (this.row.is_long
      ? this.#questions.ask("course_run", asked)
      : this.#questions.ask("course_screen", asked, (sentence) => this.#showProblem(sentence)));
    if (!found) return;
    this.#setRunning(false);
    this.#showProblem("problem" in found ? found.problem : "");
    if ("problem" in found) return;
    const answer = found.meta as object as ScreenAnswer;
    const answered = answer.answered.map((each, at) => ({ ...(this.#settled[at] ?? each), place: each.place }));
    this.#answer = { ...answer, answered };
    if (this.#answer.question?.is_settled) {
      this.#again = false;
      this.#place.finish();
    }
    this.#draw();
  }

  /** @param sentence "" if there is no problem */
  #showProblem(sentence: string) {
    showProblem({ problem: this.#parts.problem, answer: this.#parts.rows }, sentence);
  }

  #setRunning(running: boolean) {
    this.#running = running;
    this.#showElapsed(running);
    this.element.dataset.state = running ? "asking" : "ready";
    this.element.ariaBusy = String(running);
  }

  /** The label of the button for long runs: its action, and the seconds since the start. */
  #showElapsed(running: boolean) {
    const { run } = this.#parts;
    const started = Date.now();
    clearInterval(this.#clock);
    const show = () => {
      run.textContent = running ? `Stop · ${Math.round((Date.now() - started) / 1000)} s` : "Run";
    };
    show();
    if (running && this.row.is_long) this.#clock = setInterval(show, 1000);
  }

  #draw() {
    if (!this.#answer) return;
    const { rows, ways, formulas, again } = this.#parts;
    const { linkTo, pages, formulasLast } = this.#place;
    const { rows: shown, links, answered, question, can_ask: canAsk } = this.#answer;
    const surroundings = { width: rows.clientWidth || innerWidth, linkTo, explore: links.explore ?? null };
    const drawn = createRows(shown, surroundings, this.#fold);
    for (const each of [question, ...answered.toReversed()])
      if (each)
        drawn.splice(
          each.place,
          0,
          createQuestion(each, (answer) => this.#try(answer)),
        );
    const isFocused = rows.contains(activeElement(rows));
    rows.replaceChildren(...drawn);
    const next = isFocused ? (rows.querySelector(FIRST_ANSWER) ?? rows.querySelector(".question")) : null;
    if (next instanceof HTMLElement) next.focus();
    if (question && this.#tries.length) announce(this.element, question.said || (question.hints.at(-1) ?? ""));
    ways.replaceChildren(...Object.entries(links).map(([page, link]) => createPageLink(pages, page, link)));
    if (canAsk && !question) ways.append(this.#createAskButton());
    const isOpen = Boolean(question && !question.is_settled);
    formulas.hidden = !this.row.formulas.length || (formulasLast && isOpen);
    const onward = isOpen ? null : this.#place.createNext(false);
    if (onward) ([...rows.querySelectorAll(".question")].at(-1) ?? ways).append(onward);
    again.replaceChildren((onward && formulasLast && !formulas.hidden && this.#place.createNext(true)) || "");
  }

  #createAskButton() {
    return createButton("plain", "Ask me about these numbers", "ask-me", () => {
      this.#again = true;
      this.#ask();
    });
  }
}

/**
 * The tries to keep when inputs change: if the change is the answer, earlier questions stay settled, and hints stay
 * visible.
 */
function keptTries(answer: ScreenAnswer | null) {
  const question = answer?.question;
  if (!answer || !question || question.is_settled || !isGoal(question)) return [];
  return [...answer.answered.map(() => GIVE_UP), ...question.hints.map(() => HINT)];
}

/** The request of a screen: its inputs, and the names of those that are models or private files. */
export function screenRequest({ name, controls }: ScreenRow, inputs: Record<string, string>) {
  const named = (wanted: Control["kind"]) =>
    controls.filter(({ kind }) => kind === wanted).map((control) => control.name);
  return { screen: name, inputs, model_inputs: named("model"), file_inputs: named("recording") };
}

/** A link to another page, with the choices made here. */
function createPageLink(pages: string, page: string, link: Record<string, string>) {
  const way = createElement("a", "act", `Continue in ${page[0].toUpperCase()}${page.slice(1)}`);
  way.href = `${pages}${page === "explore" ? "" : page}?${new URLSearchParams(link)}`;
  return way;
}

function createParts(row: ScreenRow, { linkTo, formulasLast }: ScreenPlace) {
  const element = createElement("section", "panel screen", [], { testid: `screen-${row.name}` });
  element.dataset.state = "new";
  const title = createElement("h2", "", row.title);
  const lesson = createElement("p", "lesson", titleNodes(row.lesson));
  const formulas = createFormulas(row);
  const controls = createElement("div");
  const run = createElement("button", "act run", "Run", { title: "Runs for some seconds", hidden: !row.is_long });
  const problem = createElement("p", "problem", [], { role: "alert", testid: "screen-problem", hidden: true });
  const rows = createElement("div", "rows");
  if (row.is_long) rows.append(createElement("p", "quiet", LONG));
  const ways = createElement("span", "onward");
  const others = createElement("span", "onward", row.see_also.length ? "See also " : "");
  others.append(...row.see_also.map(linkTo));
  const footer = createElement("footer", "screen-foot", [ways, others, createReadAloud(element), createCode(row)]);
  const ask = createElement("div", "ask", formulasLast ? [lesson, controls, run] : [lesson, formulas, controls, run]);
  const again = createElement("div"); // the next screen once more, after formulas
  const result = createElement("div", "result", formulasLast ? [problem, rows, formulas, again] : [problem, rows]);
  formulas.hidden = formulasLast;
  element.append(title, ask, result, footer);
  return { element, controls, run, problem, rows, ways, formulas, again };
}

function createCode(row: ScreenRow) {
  const details = createElement("details", "code", [], { hidden: row.code.length === 0 });
  details.append(createElement("summary", "", "The code that computes this"));
  details.addEventListener(
    "toggle",
    () => details.append(...row.code.map(({ code }) => createElement("pre", "", code, { tabIndex: 0 }))),
    { once: true },
  );
  return details;
}
