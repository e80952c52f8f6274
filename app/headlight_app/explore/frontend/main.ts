// Explore: keeps the visitor's choices, requests answers, paints, and reports to Streamlit after a pause.

import { AddressBar } from "../../ui/frontend/address.ts";
import { CHOICE_EVENT, defineComponent, Reporter } from "../../ui/frontend/bridge.ts";
import { OWN_IMAGE_PREFIX } from "../../ui/frontend/contract.ts";
import { listenTo } from "../../ui/frontend/dom/dom.ts";
import { keepBelow } from "../../ui/frontend/dom/scrolling.ts";
import { listenToHeads } from "../../ui/frontend/heads/heads_tab.ts";
import { listenToLeaving } from "../../ui/frontend/leaving.ts";
import { clearMeasurements } from "../../ui/frontend/plots/measurements.ts";
import { Questions } from "../../ui/frontend/questions.ts";
import { fitHeights, setText } from "../../ui/frontend/text_box.ts";
import type { Packed } from "../../ui/frontend/wire.ts";
import { listenToEdits } from "./edits/edit_list.ts";
import { drawExamples, followExample } from "./examples.ts";
import { createExportMenu } from "./export/export_menu.ts";
import { drawMode } from "./first_visit/mode.ts";
import { offerTour } from "./first_visit/tour.ts";
import { drawGallery } from "./gallery.ts";
import { drawPartsBar } from "./mask/parts_bar.ts";
import { hideParts } from "./offered.ts";
import { createWayIntoHead } from "./picture/inside_head.ts";
import { clearPicture } from "./picture/picture.ts";
import { drawPresenter, listenToPresenter } from "./presenter.ts";
import { ExploreQuestions } from "./server.ts";
import { ExploreState } from "./state.ts";
import { drawTexts, listenToTexts } from "./texts.ts";
import type { Choice, ExploreData, ExplorePage, Tab, TraceAnswer } from "./types.ts";
import { createView, drawAnswer, drawAround, drawArrival, drawChoice, drawProblem } from "./view.ts";
import { createWayBack } from "./walkthrough/walkthrough_tab.ts";

const PATIENCE = 100; // milliseconds that a choice may wait for its answer before it is painted
const TEXTS = ["text", "source", "text_pair", "chat"]; // a change of one changes the tokens

/** The instrument as a component; `createAnswerView` may add its own view of the answer above the tabs. */
export function defineInstrument<Data extends ExploreData = ExploreData>(
  createAnswerView: (page: ExplorePage, place: HTMLElement, data: Data) => Tab | null,
) {
  return defineComponent(
    (place, data: Data) => new Explore(place, data, (page) => createAnswerView(page, place, data)),
  );
}

export default defineInstrument(() => null);

class Explore implements ExplorePage {
  state;
  view;
  server;
  reporter;

  #endings;
  #address;
  #asking;
  #data;
  #width = 0;
  #late = 0;

  constructor(place: HTMLElement, data: ExploreData, createAnswerView: (page: ExplorePage) => Tab | null) {
    this.#data = data;
    this.state = new ExploreState(data.state, data, data.settings);
    this.view = createView(this, place, createAnswerView(this));
    this.#asking = new Questions(data.api);
    this.server = new ExploreQuestions(data.api, this.state, (route, details) => drawArrival(this, route, details));
    const { elements } = this.view;
    const isWaiting = () => elements.root.classList.contains("waiting");
    this.#address = new AddressBar(() => this.#linked(), data.link_place);
    this.reporter = new Reporter(() => this.state.told, isWaiting, data.pause);
    hideParts(this, place);
    listenToTexts(this);
    listenToHeads(this);
    createWayIntoHead(this);
    drawMode(this);
    if (data.takes_focus) this.view.elements.text.focus();
    const observer = new ResizeObserver(() => this.#fit());
    observer.observe(elements.answer); // in presenter mode the board is not a box of its own
    this.#endings = [
      () => observer.disconnect(),
      listenTo(window, { popstate: () => this.#goBack() }),
      listenToEdits(this),
      listenToPresenter(this, place),
      createWayBack(this),
      keepBelow([...elements.root.querySelectorAll<HTMLElement>(".ask > .box")]),
      listenToChoices(this),
      listenToLeaving(place, this.reporter),
      createExportMenu(this, place),
    ];
  }

  /** Called at each run of the script: the data or the theme may have changed. */
  update(data: ExploreData, tell?: (name: string, value: unknown) => void) {
    const { state } = this;
    this.#data = data;
    if (tell) this.#connect(tell);
    this.reporter.settle = data.pause;
    state.catalogue = data;
    clearMeasurements(this);
    if (data.state.task !== state.choice.task) this.reporter.discard(); // each task has its own text
    const moved = JSON.stringify(state.settings) !== JSON.stringify(data.settings);
    state.settings = data.settings;
    const adopted = this.#adopt(data);
    drawTexts(this);
    drawPartsBar(this);
    drawExamples(this);
    drawGallery(this);
    if (adopted || moved) this.#ask();
    else if (state.problem)
      drawProblem(this); // the displayed answer is out of date
    else if (state.latestAnswer) drawAnswer(this);
  }

  #connect(tell: (name: string, value: unknown) => void) {
    this.reporter.connect((name, value) => {
      this.#address.write(); // first: Streamlit reads the address with the report
      tell(name, value);
    });
  }

  end() {
    this.reporter.cancel();
    this.#address.cancel();
    this.#asking.stop();
    this.server.end();
    this.#forgetChoice();
    for (const end of this.#endings) end();
  }

  /**
   * The only way to change a choice: stores it, repaints, requests a new answer if the model is concerned, and reports.
   */
  change(patch: Partial<Choice>) {
    const ofPart = "variant" in patch;
    if (ofPart || "edits" in patch || "disabled_edits" in patch) this.state.history.record(this.state.choice, ofPart);
    this.state.update(patch);
    drawPresenter(this);
    drawTexts(this);
    if ("variant" in patch) drawPartsBar(this);
    const asks = this.state.asks(patch);
    if (asks) this.#ask();
    if (this.state.latestAnswer && !TEXTS.some((name) => name in patch)) this.#drawChoice(asks);
    this.reporter.changed();
    this.#address.changed();
  }

  /**
   * Draws a choice at once, or with its answer if one is requested, because drawing twice would delay both. A slow
   * answer is not waited for.
   */
  #drawChoice(asks: boolean) {
    if (!asks) drawChoice(this);
    else
      this.#late ||= window.setTimeout(() => {
        this.#late = 0;
        drawChoice(this);
      }, PATIENCE);
  }

  #forgetChoice() {
    clearTimeout(this.#late);
    this.#late = 0;
  }

  /** The back button before a change was reported: Streamlit does not rerun if it already knows the address. */
  #goBack() {
    this.#address.cancel();
    if (!this.reporter.isPending) return;
    this.reporter.discard();
    this.update(this.#data);
  }

  /** The state in a link; an unchanged opening sentence or head is omitted from the URL. */
  #linked() {
    const { state } = this;
    const { choice, catalogue } = state;
    const { text } = catalogue.opening;
    const linked = {
      ...state.told,
      ...(choice.text === text && !catalogue.writes_target ? { text: null } : {}),
      source: choice.source === catalogue.examples[0].source ? null : choice.source,
      image: choice.image.startsWith(OWN_IMAGE_PREFIX) ? "" : choice.image, // private and temporary
    };
    const showsOpening = linked.text === null && linked.source === null;
    const unsaidHead = showsOpening ? catalogue.opening_head : catalogue.default_head;
    if (String([choice.layer, choice.head]) === String(unsaidHead)) Object.assign(linked, { layer: -1, head: -1 });
    return { state: linked, settings: catalogue.link_settings };
  }

  /** Adopts the choices in the address, except changes that have not been reported to Streamlit yet. */
  #adopt(data: ExploreData) {
    const told = this.reporter.news({ ...data.state }, data.serial);
    if (!told) return false;
    this.state.adopt(told);
    this.state.history.clear();
    drawPresenter(this);
    const { source, secondText, boxes } = this.view.elements;
    setText(source, told.source);
    setText(secondText, told.text_pair);
    drawTexts(this);
    fitHeights(boxes);
    return true;
  }

  async #ask() {
    const { state, view, reporter } = this;
    view.elements.root.classList.add("waiting");
    const { status } = view.elements;
    const found = await this.#asking.ask(
      "trace",
      state.traceRequest,
      (sentence) => this.#fail(sentence),
      (sentence) => {
        status.textContent = sentence;
      },
    );
    if (this.#asking.isAsking) return;
    if (found && "problem" in found) this.#fail(found.problem);
    else if (found) this.#receive(found);
    view.elements.root.classList.remove("waiting");
    reporter.idle();
  }

  #fail(sentence: string) {
    this.state.fail(sentence, this.#asking.number);
    drawTexts(this);
    drawProblem(this);
  }

  #receive({ meta, start, buffer }: Packed<TraceAnswer>) {
    this.state.receive({ ...meta, bytes: new Uint8Array(buffer, start) }, this.#asking.number);
    this.#forgetChoice();
    drawTexts(this);
    drawAnswer(this);
    followExample(this);
    offerTour(this);
  }

  /** Plots follow the available width. Each plot sets its own height. */
  #fit() {
    const width = this.view.elements.answer.clientWidth;
    if (width === this.#width) return;
    this.#width = width;
    fitHeights(this.view.elements.boxes);
    clearMeasurements(this);
    clearPicture(this);
    this.view.redraw();
    drawAround(this);
  }
}

/**
 * Applies changes made by other components as ordinary choices; `serial` tells them when Streamlit was notified.
 * @returns ends it
 */
function listenToChoices(page: ExplorePage): () => void {
  const exchange = (event: CustomEvent) => {
    event.preventDefault();
    const { variant, ...patch } = event.detail.patch; // of a variant, only the parts that were chosen
    page.change({ ...patch, ...(variant ? { variant: { ...page.state.choice.variant, ...variant } } : {}) });
    event.detail.serial = page.reporter.serial;
    if ("presenter" in event.detail.patch) page.reporter.flush(); // the page frame follows it
  };
  return listenTo(document, { [CHOICE_EVENT]: exchange });
}
