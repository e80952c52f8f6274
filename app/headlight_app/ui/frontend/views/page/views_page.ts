// A page of views: what the visitor chooses is asked about at once, one question after another, and told to Streamlit.

import { defineComponent, Reporter } from "../../bridge.ts";
import { updateChildren } from "../../dom/dom.ts";
import { find, findByTestId } from "../../dom/elements.ts";
import { PageExport } from "../../export/page_export.ts";
import type { Shared } from "../../export/share.ts";
import { programOf } from "../../export/share.ts";
import { listenToLeaving } from "../../leaving.ts";
import { togglePresenter } from "../../presenter.ts";
import { Questions, showProblem } from "../../questions.ts";
import { askRoute } from "../../server.ts";
import type { ShownView, ViewsRequest } from "../../types.ts";
import { pageSides, shownView } from "../export/page_views.ts";
import { decodeImages } from "../image.ts";
import type { Kept } from "../rows.ts";
import { createRows } from "../rows.ts";
import type { Pick, Picks, ViewsPageData } from "../types.ts";
import { ShownRows } from "./shown_rows.ts";

class ViewsPage {
  #elements;
  #data;
  #export;
  #resized;
  #reporter;
  #endLeaving;
  #questions;
  #hasEnded = false;
  #choice: ViewsPageData["state"] = {};
  #isAsking = false;
  /** What the shown rows answer, as JSON. */
  #answered = "";
  /** What they are about, as JSON. */
  #subject = "";
  #shown = new ShownRows();
  #kept: Kept = { isOpen: false, controls: new Map(), drawn: new WeakMap() };
  /** What is to be saved, and the question that it answers. */
  #collected: { asked: string; view: Promise<ShownView> } | null = null;

  constructor(place: HTMLElement, data: ViewsPageData) {
    this.#elements = {
      root: find(place, ".views-page"),
      problem: findByTestId(place, "problem"),
      waiting: findByTestId(place, "waiting"),
      rows: findByTestId(place, "views"),
    };
    this.#data = data;
    this.#questions = new Questions(data.api);
    this.#reporter = new Reporter(
      () => this.#choice,
      () => this.#isAsking,
    );
    this.#endLeaving = listenToLeaving(place, this.#reporter);
    this.#export = new PageExport(place, data.api, {
      isReady: () => this.#isReady,
      collect: () => this.#collect(),
      share: () => this.#share(),
    });
    this.#resized = new ResizeObserver(() => this.#draw());
    this.#resized.observe(this.#elements.root);
  }

  update(data: ViewsPageData, tell: (name: string, value: unknown) => void) {
    this.#reporter.connect(tell);
    if (data.page !== this.#data.page) this.#begin();
    this.#data = data;
    togglePresenter(this.#elements.root, data.presenter === "1", []);
    this.#choice = this.#reporter.news(data.state, data.serial) ?? this.#choice;
    this.#draw();
    this.#ask();
  }

  /** Forgets all of the page before. */
  #begin() {
    this.#reporter.discard();
    this.#choice = {};
    this.#answered = this.#subject = "";
    this.#shown = new ShownRows();
    this.#kept = { isOpen: false, controls: new Map(), drawn: new WeakMap() };
  }

  end() {
    this.#hasEnded = true;
    this.#questions.stop();
    this.#endLeaving();
    this.#reporter.cancel();
    this.#resized.disconnect();
    this.#export.end();
  }

  get #request(): ViewsRequest {
    const { page, question } = this.#data;
    return { page, question, choice: this.#choice };
  }

  /** What all choices are about. */
  get #about() {
    return JSON.stringify([this.#data.page, this.#data.question]);
  }

  get #isReady() {
    return this.#answered === JSON.stringify(this.#request);
  }

  /**
   * Asks until what is shown answers the newest choice: while it is asked, only the newest one waits. What could not be
   * answered is asked again at the next choice or update.
   */
  async #ask() {
    if (this.#isAsking) return;
    if (this.#isReady) return this.#tell("");
    this.#mark(true);
    try {
      while (!this.#isReady && !this.#hasEnded) {
        const asked = JSON.stringify(this.#request);
        const isRefused = await this.#askOnce(asked);
        if (isRefused && asked === JSON.stringify(this.#request)) break;
      }
    } finally {
      this.#mark(false);
    }
    if (this.#hasEnded) return;
    this.#reporter.idle();
    this.#export.menu.relist();
  }

  /** Shows the answer, or why there is none. Returns whether it is refused. @param asked the request as JSON */
  async #askOnce(asked: string) {
    const [shown, subject] = [this.#shown, this.#about];
    const request = { ...JSON.parse(asked), known: shown.digests };
    const tell = (sentence: string) => this.#tell(sentence);
    const found = await this.#questions.ask("views", request, tell, (sentence) => this.#wait(sentence));
    if (!found || shown !== this.#shown) return false; // the component or its page has ended
    this.#wait("");
    this.#tell("problem" in found ? found.problem : "");
    if ("meta" in found) {
      shown.take(found.meta);
      [this.#answered, this.#subject] = [asked, subject];
    } else if (subject !== this.#subject) {
      shown.keepControls();
      this.#answered = this.#subject = "";
    }
    this.#draw();
    return "problem" in found;
  }

  #mark(isAsking: boolean) {
    const { root, rows } = this.#elements;
    this.#isAsking = isAsking;
    root.dataset.state = isAsking ? "asking" : "";
    rows.ariaBusy = String(isAsking);
  }

  /** @param sentence "" if there is no problem */
  #tell(sentence: string) {
    showProblem({ problem: this.#elements.problem, answer: this.#elements.rows }, sentence);
  }

  /** @param sentence why there is no answer yet */
  #wait(sentence: string) {
    const { waiting } = this.#elements;
    waiting.textContent = sentence;
    waiting.hidden = !sentence;
  }

  #draw() {
    const { root, rows } = this.#elements;
    const style = getComputedStyle(root);
    const [frame, zoom] = ["--frame", "--zoom"].map((name) => Number.parseFloat(style.getPropertyValue(name)));
    const column = Number.parseFloat(getComputedStyle(rows).gridTemplateColumns) || rows.clientWidth || innerWidth;
    const width = (column - 2 * (frame || 0)) / (zoom || 1);
    const kept = Object.assign(this.#kept, { key: String(width), choice: JSON.stringify(this.#choice) });
    updateChildren(rows, ...createRows(this.#shown.rows, { width, picks: this.#picks, isPage: true }, kept));
  }

  #picks: Picks = {
    choose: (pick) => this.#change(pick),
    isChosen: (pick) => Object.entries(pick).every(([field, value]) => String(this.#choice[field]) === String(value)),
    subject: () => this.#about,
  };

  #change(pick: Pick) {
    this.#choice = { ...this.#choice, ...pick };
    this.#draw();
    this.#ask();
    this.#reporter.changed();
  }

  /** What can be saved: once for each question. */
  #collect(): Promise<ShownView> {
    const asked = JSON.stringify(this.#request);
    if (this.#collected?.asked === asked) return this.#collected.view;
    const collected = { asked, view: this.#askAll() };
    this.#collected = collected;
    collected.view.catch(() => {
      if (this.#collected === collected) this.#collected = null;
    });
    return collected.view;
  }

  /** All views with the numbers to be saved. */
  async #askAll() {
    const { page, question } = this.#data;
    const { meta } = await askRoute(this.#data.api, "views", { ...this.#request, with_tables: true });
    const shown = new ShownRows();
    shown.take(meta);
    await decodeImages(shown.rows.flatMap(({ views }) => views));
    return shownView({ ...meta, page, question, rows: shown.rows });
  }

  #share(): Shared {
    const { api, shared } = this.#data;
    const sides = () => pageSides(this.#data);
    const program = () => programOf(api, sides(), this.#shown.program);
    return { page: shared.page, chosen: { state: { ...shared.state, ...this.#choice } }, sides, program };
  }
}

export default defineComponent((place, data: ViewsPageData) => new ViewsPage(place, data));
