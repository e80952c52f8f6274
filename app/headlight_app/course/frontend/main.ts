// The Course: the screens of a chapter, one below the other; each requests its numbers once it is near the window.

import { reportPlace } from "../../room/frontend/answers.ts";
import { defineComponent, Reporter } from "../../ui/frontend/bridge.ts";
import { announce } from "../../ui/frontend/dom/announce.ts";
import { createButton, listenTo } from "../../ui/frontend/dom/dom.ts";
import { find, findByTestId } from "../../ui/frontend/dom/elements.ts";
import { loadMathematicsFont } from "../../ui/frontend/fonts/mathematics.ts";
import { listenToLeaving } from "../../ui/frontend/leaving.ts";
import { togglePresenter } from "../../ui/frontend/presenter.ts";
import { askRoute, failureText } from "../../ui/frontend/server.ts";
import { isShortcut } from "../../ui/frontend/shortcut.ts";
import { drawContents, drawTurns } from "./contents.ts";
import { ChangedInputs } from "./inputs.ts";
import { keepInView } from "./keep_in_view.ts";
import { createLink } from "./links.ts";
import { corePath, describeProgress, nextStation, placeOf } from "./path.ts";
import { Progress } from "./progress.ts";
import { ScreenView } from "./screen.ts";
import { createStart } from "./start.ts";
import type { ChapterAnswer, CourseChoice, CourseData, ScreenRow } from "./types.ts";

const KEYS = [
  ["j", 1],
  ["k", -1],
] as const; // to the next and the previous screen
const READING_LINE = 120; // pixels below the top of the window: the current screen begins above this line
const NEAR = "600px"; // below the window: the distance at which a screen requests its numbers

class CoursePage {
  #elements;
  #data;
  #reporter;
  #endLeaving;
  #endListening;
  #endKeeping = () => {};
  #observer;
  #progress = new Progress(localStorage);
  #choice: CourseChoice;
  #inputs;
  #chapter: ChapterAnswer | null = null;
  #isStart = true; // whether the start page is shown instead of a chapter
  #screens: ScreenView[] = [];

  constructor(place: HTMLElement, data: CourseData) {
    this.#elements = findElements(place);
    this.#data = data;
    this.#choice = data.state;
    this.#inputs = new ChangedInputs(data.state.course_inputs, this.#data.models);
    this.#reporter = new Reporter(() => ({ ...this.#choice }));
    this.#endLeaving = listenToLeaving(place, this.#reporter);
    this.#observer = new IntersectionObserver((seen) => this.#see(seen), { rootMargin: `${NEAR} 0px` });
    this.#endListening = listenTo(document, { keydown: this.#pressed });
    const { showAtOnce } = this.#elements;
    showAtOnce.checked = this.#progress.showsAtOnce;
    showAtOnce.onchange = () => {
      this.#progress.showsAtOnce = showAtOnce.checked;
      for (const screen of this.#screens) screen.restart();
    };
  }

  update(data: CourseData, tell: (name: string, value: unknown) => void) {
    this.#reporter.connect((name, value) => tell(name, { ...(value as object), within: this.#choice.chapter }));
    this.#data = data;
    togglePresenter(this.#elements.root, data.presenter === "1", []);
    this.#elements.root.classList.toggle("embedded", this.#isEmbedded);
    const choice = this.#news(data);
    if (!choice) return;
    this.#choice = choice;
    this.#inputs = new ChangedInputs(choice.course_inputs, this.#data.models);
    this.#open();
  }

  /**
   * Choices made outside this page, for example with Back. A screen and its inputs belong to a chapter: if the chapter
   * has changed, unreported choices made here are dropped.
   */
  #news({ state, serial }: CourseData) {
    const choice = this.#reporter.news({ ...state }, serial);
    if (!choice || choice.chapter === this.#choice.chapter) return choice;
    this.#reporter.discard();
    return this.#reporter.news({ ...state }, serial);
  }

  get #isEmbedded() {
    return this.#data.embedded === "1";
  }

  end() {
    this.#endListening();
    for (const screen of this.#screens) screen.end();
    this.#observer.disconnect();
    this.#endLeaving();
    this.#endKeeping();
    this.#reporter.cancel();
    reportPlace("");
  }

  /** Shows the chapter of the address, and the screen if it names one; returns whether the chapter is shown. */
  async #open() {
    const { chapter, screen } = this.#choice;
    reportPlace(placeOf(chapter, screen, this.#progress));
    if (chapter) loadMathematicsFont(); // before its formulas arrive
    this.#say("");
    const answer = (await this.#fetch(chapter)) ?? (chapter ? await this.#fetchInstead() : null);
    if (!answer || chapter !== this.#choice.chapter) return false;
    this.#isStart = !chapter;
    this.#chapter = answer;
    this.#progress.know(answer.same);
    reportPlace(placeOf(chapter, this.#choice.screen, this.#progress));
    if (this.#isStart) this.#drawStart(answer);
    else this.#draw(answer);
    if (screen && !this.#isEmbedded) this.#show(screen);
    return true;
  }

  /** Moves the focus to the opened screen or chapter, for keyboards and screen readers. */
  #focus(screen: string) {
    const { root, number, title } = this.#elements;
    const found = this.#screens.find(({ row }) => row.name === screen)?.element;
    const heading = found ? find(found, "h2") : title;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    if (!found) announce(root, `${number.textContent}: ${title.textContent}`);
  }

  /** Scrolls to a screen. */
  #show(name: string) {
    const found = this.#screens.find(({ row }) => row.name === name);
    if (!found) return;
    found.begin();
    this.#endKeeping();
    this.#endKeeping = keepInView(found.element, this.#elements.screens);
  }

  /** The rows of a chapter; null if there are none, with a sentence on the page. */
  async #fetch(chapter: string) {
    const say = (sentence: string) => this.#say(sentence);
    try {
      const { meta } = await askRoute(this.#data.api, "course_chapter", { chapter }, undefined, say);
      say("");
      return meta;
    } catch (error) {
      say(failureText(error));
      return null;
    }
  }

  /** The first chapter instead of a missing one, with the server's sentence about that one. */
  async #fetchInstead() {
    const sentence = this.#elements.problem.textContent ?? "";
    const answer = await this.#fetch("");
    if (answer) this.#say(sentence);
    return answer;
  }

  /** Shows an error sentence, or none. */
  #say(sentence: string) {
    const { problem } = this.#elements;
    problem.textContent = sentence;
    problem.hidden = !sentence;
  }

  /** The start page. */
  #drawStart({ contents, entries }: ChapterAnswer) {
    const { root, number, title, summary, screens, turns } = this.#elements;
    number.textContent = `${contents.length} chapters`;
    title.textContent = "How transformers work";
    summary.textContent = "";
    this.#endScreens();
    const open = (chapter: string, screen: string) => this.#go(chapter, screen);
    const redraw = () => {
      this.#elements.showAtOnce.checked = this.#progress.showsAtOnce;
      if (this.#chapter) this.#drawStart(this.#chapter);
    };
    screens.replaceChildren(createStart(contents, entries, this.#progress, open, redraw));
    turns.replaceChildren();
    this.#drawContents();
    root.dataset.chapter = "";
  }

  #endScreens() {
    for (const screen of this.#screens) screen.end();
    this.#screens = [];
    this.#observer.disconnect();
  }

  #draw(answer: ChapterAnswer) {
    const { root, number, title, summary, screens, turns } = this.#elements;
    const place = answer.contents.findIndex(({ name }) => name === answer.chapter);
    number.textContent = `Chapter ${place + 1} of ${answer.contents.length}`;
    title.textContent = answer.contents[place].title;
    summary.textContent = answer.contents[place].summary;
    this.#endScreens();
    const wanted = this.#isEmbedded ? this.#choice.screen : "";
    const rows = answer.screens.filter((row) => !wanted || row.name === wanted);
    this.#screens = rows.map((row) => this.#createScreen(row, answer.chapter));
    screens.replaceChildren(...this.#screens.map(({ element }) => element));
    for (const { element } of this.#screens) this.#observer.observe(element);
    this.#drawContents();
    drawTurns(turns, answer.contents, answer.chapter, (chapter, screen) => this.#go(chapter, screen));
    root.dataset.chapter = answer.chapter;
  }

  #drawContents() {
    if (!this.#chapter) return;
    const { contents, chapter } = this.#chapter;
    const { contents: nav, progress } = this.#elements;
    const open = this.#isStart ? "" : chapter;
    drawContents(nav, contents, open, this.#choice.screen, this.#progress, (name, screen) => this.#go(name, screen));
    progress.textContent = this.#isStart ? "" : `Core path: ${describeProgress(contents, this.#progress)}`;
  }

  #createScreen(row: ScreenRow, chapter: string) {
    return new ScreenView(row, {
      api: this.#data.api,
      pages: this.#data.pages,
      models: this.#data.models,
      request: { chapter, device: this.#data.device },
      room: placeOf(chapter, row.name, this.#progress),
      inputs: () => this.#inputs.all(row),
      change: (patch) => {
        this.#inputs.change(row, patch);
        this.#report({ chapter, screen: row.name });
      },
      linkTo: (link) => createLink(this.#chapter?.contents ?? [], link, (...place) => this.#go(...place)),
      asksFirst: () =>
        !this.#isEmbedded && !this.#progress.showsAtOnce && !this.#progress.isDone(`${chapter}/${row.name}`),
      finish: () => {
        this.#progress.finish(`${chapter}/${row.name}`);
        this.#drawContents();
      },
      createNext: (isAgain) => this.#createNext(`${chapter}/${row.name}`, isAgain),
      formulasLast: corePath(this.#chapter?.contents ?? []).some(({ path }) => path === `${chapter}/${row.name}`),
    });
  }

  /** A button to the next screen, which marks this one as done; in colour unless there is one before it. */
  #createNext(path: string, isAgain: boolean) {
    const contents = this.#chapter?.contents ?? [];
    const finish = (chapter: string, screen: string) => {
      this.#progress.finish(path);
      this.#go(chapter, screen);
    };
    const create = (words: string, chapter: string, screen: string) =>
      createButton(`act${isAgain ? "" : " primary"} next`, words, isAgain ? "next-again" : "next-screen", () =>
        finish(chapter, screen),
      );
    if (corePath(contents).at(-1)?.path === path) return create("That was the core path. To the map →", "", "");
    const next = nextStation(contents, path);
    return next ? create(`Next: ${next.title} →`, next.chapter, next.name) : null;
  }

  /** Goes to a chapter, or to one of its screens, optionally with inputs encoded as in the address. */
  async #go(chapter: string, screen: string, inputs: string = "") {
    this.#endKeeping();
    const isShown = !this.#isStart && chapter === this.#chapter?.chapter;
    const isHere = isShown && chapter === this.#choice.chapter && !inputs; // not on the way to another chapter
    if (!isHere) this.#inputs = new ChangedInputs(inputs, this.#data.models);
    if (screen) this.#progress.visit(`${chapter}/${screen}`);
    this.#report({ chapter, screen });
    if (!isHere) {
      this.#elements.root.scrollIntoView();
      if (!(await this.#open())) return;
    } else if (screen) this.#show(screen);
    else this.#elements.root.scrollIntoView({ behavior: "smooth" });
    this.#focus(screen);
  }

  #pressed = (event: KeyboardEvent) => {
    const by = KEYS.find(([key]) => isShortcut(event, key))?.[1];
    if (!by) return;
    const tops = this.#screens.map(({ element }) => element.getBoundingClientRect().top);
    const read = tops.findLastIndex((top) => top < READING_LINE);
    const next = this.#screens[read + by];
    if (next && this.#chapter) this.#go(this.#chapter.chapter, next.row.name);
  };

  /** Reports the choices, for the address. */
  #report(patch: Partial<CourseChoice>) {
    this.#choice = { ...this.#choice, ...patch, course_inputs: this.#inputs.encode() };
    reportPlace(placeOf(this.#choice.chapter, this.#choice.screen, this.#progress));
    this.#drawContents();
    this.#reporter.changed();
  }

  #see(seen: IntersectionObserverEntry[]) {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      this.#observer.unobserve(target);
      this.#screens.find(({ element }) => element === target)?.begin();
    }
  }
}

function findElements(place: HTMLElement) {
  return {
    root: find(place, ".instrument"),
    contents: findByTestId(place, "contents"),
    number: findByTestId(place, "chapter-number"),
    title: findByTestId(place, "chapter-title"),
    summary: findByTestId(place, "chapter-summary"),
    progress: findByTestId(place, "course-progress"),
    showAtOnce: findByTestId(place, "show-at-once", HTMLInputElement),
    problem: findByTestId(place, "course-problem"),
    screens: findByTestId(place, "screens"),
    turns: findByTestId(place, "turn-pages"),
  };
}

export default defineComponent((place, data: CourseData) => new CoursePage(place, data));
