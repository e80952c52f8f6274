// The bridge to Streamlit: how a component is mounted, takes over what Streamlit says, and reports what was chosen.

import { listenToReadings } from "./dom/announce.js";
import { listenToTouch } from "./touch_hint.js";

const SETTLE = 250; // milliseconds without a change before the rest of the page follows
const PATIENCE = 750; // milliseconds that a report waits for an answer; who leaves the page by then leaves the change behind
const SOON = 50; // milliseconds in which an answer that came late is on the screen

export const CHOICE_EVENT = "headlight-choice"; // of one component for another, which reports it

/**
 * Something is chosen that another component on the page may paint at once and report with its own choices.
 * @param {Record<string, unknown>} patch @returns {number | null} the number of its report; null where no page took it
 */
export function chooseElsewhere(patch) {
  /** @type {{ patch: Record<string, unknown>, serial?: number }} */
  const detail = { patch };
  const taken = !document.dispatchEvent(new CustomEvent(CHOICE_EVENT, { detail, cancelable: true }));
  return taken ? (detail.serial ?? 0) : null;
}

/**
 * What Streamlit calls at each run, at each change of data and of the theme.
 * @template Data
 * @typedef {object} Run
 * @property {HTMLElement} parentElement
 * @property {[Data]} data
 * @property {(name: string, value: unknown) => void} setStateValue
 */

/**
 * What stands in a place where a component is mounted.
 * @template Data @typedef {object} Mounted
 * @property {(data: Data, tell: (name: string, value: unknown) => void) => void} update
 * @property {() => void} end
 */

/**
 * A component for Streamlit; `mount` makes what stands in a place, once.
 *
 * Streamlit asks for a clean-up of every run that another run overtook, in any order and while the component stays on
 * the screen: two changes while the modules are on their way are enough. Only a place that has left the document is
 * cleaned up; a return to the page gets new elements.
 * @template Data @param {(place: HTMLElement, data: Data) => Mounted<Data>} mount
 * @returns {(run: Run<Data>) => () => void}
 */
export function defineComponent(mount) {
  /** @type {WeakMap<HTMLElement, { page: Mounted<Data>, endings: (() => void)[] }>} */
  const pages = new WeakMap();
  /** @param {HTMLElement} place */
  const end = (place) => {
    const mounted = pages.get(place);
    if (!mounted || place.isConnected) return;
    pages.delete(place);
    mounted.page.end();
    for (const stop of mounted.endings) stop();
  };
  return ({ parentElement, data: [data], setStateValue }) => {
    if (parentElement.isConnected) {
      const mounted = pages.get(parentElement) ?? {
        page: mount(parentElement, data),
        endings: [listenToTouch(parentElement), listenToReadings(parentElement)],
      };
      pages.set(parentElement, mounted);
      mounted.page.update(data, setStateValue);
    }
    return () => end(parentElement);
  };
}

/**
 * The part of `whole` that `part` has names for.
 * @template {object} Part @param {Part} whole @param {Part} part @returns {Part}
 */
export function pick(whole, part) {
  const names = /** @type {(keyof Part)[]} */ (Object.keys(part));
  return /** @type {Part} */ (Object.fromEntries(names.map((name) => [name, whole[name]])));
}

/** @typedef {Record<string, unknown>} Choices by the names that Streamlit hands them back with */

/**
 * Keeps a page and Streamlit in step, choice by choice: each change has a number, only what is news to a side is taken
 * over, and only what was chosen here is reported. So a choice here never undoes one that was made beside it.
 */
export class Reporter {
  serial = 0;
  #hasBegun = false;
  #submittedSerial = 0;
  /** What was submitted and not heard yet. @type {Choices} */
  #submitted = {};
  /** What was last said or chosen, as JSON. @type {Map<string, string>} */
  #known = new Map();
  /** What was chosen here and not heard yet, with the number of the change. @type {Map<string, number>} */
  #own = new Map();
  #waits = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #isPending = false;
  #heardSerial = 0;
  /** Of the last report: no later one has the same number, for Streamlit applies each number once. */
  #toldSerial = 0;
  /** @type {(() => void)[]} */
  #waiting = [];
  /** @type {(name: string, value: unknown) => void} */
  #tell = () => {};
  #collect;
  #isBusy;

  /**
   * @param {() => Choices | null} collect what is chosen now; null where nothing is to be reported
   * @param {() => boolean} [isBusy] whether an answer is on its way, after which a report comes cheaper
   * @param {number} [settle] milliseconds without a change before the rest of the page follows
   */
  constructor(collect, isBusy = () => false, settle = SETTLE) {
    this.#collect = collect;
    this.#isBusy = isBusy;
    this.settle = settle;
  }

  /** @param {(name: string, value: unknown) => void} tell Streamlit's own function, a new one at each run */
  connect(tell) {
    this.#tell = tell;
  }

  /**
   * What the page is to take over from Streamlit: all that it says, but what the person chose here since it last heard.
   * Null where that is no news.
   * @template {Choices} Said @param {Said} said @param {number} serial of the last report that Streamlit has heard
   * @returns {Said | null}
   */
  news(said, serial) {
    this.#hear(serial);
    if (serial < this.#submittedSerial) return null;
    const fresh = Object.entries(said)
      .map(([name, value]) => /** @type {const} */ ([name, JSON.stringify(value)]))
      .filter(([name, text]) => !this.#own.has(name) && this.#known.get(name) !== text);
    for (const [name, text] of fresh) this.#known.set(name, text);
    if (!fresh.length) return null;
    const own = [...this.#own.keys()].map((name) => [name, JSON.parse(this.#known.get(name) ?? "null")]);
    return { ...said, ...Object.fromEntries(own) };
  }

  /** @param {number} serial */
  #hear(serial) {
    if (!this.#hasBegun) this.serial = this.#toldSerial = serial;
    this.#hasBegun = true;
    this.#heardSerial = serial;
    if (serial >= this.#submittedSerial) this.#submitted = {};
    if (serial === this.serial) for (const resolve of this.#waiting.splice(0)) resolve();
    for (const [name, change] of this.#own) if (change <= serial) this.#own.delete(name);
  }

  /** What differs from what was known has been chosen here. @param {Choices | null} choices */
  #note(choices) {
    for (const [name, value] of Object.entries(choices ?? {})) {
      const text = JSON.stringify(value);
      if (this.#known.get(name) === text) continue;
      this.#known.set(name, text);
      this.#own.set(name, this.serial);
    }
  }

  /** Something was chosen: where that is news, it is reported once nothing has changed for a moment. */
  changed() {
    const choices = this.#collect();
    const told = Object.entries(choices ?? {});
    const isNews = !choices || told.some(([name, value]) => this.#known.get(name) !== JSON.stringify(value));
    if (!isNews && !this.#isPending) return;
    this.serial++;
    this.#note(choices);
    this.schedule();
  }

  /** Reports after a moment. */
  schedule(wait = this.settle) {
    this.cancel();
    this.#isPending = true;
    this.#timer = setTimeout(() => this.#sendWhenIdle(), wait);
  }

  /** An answer has come: a report that waited for it follows once the answer is on the screen. */
  idle() {
    if (this.#waits) this.schedule(SOON);
  }

  /** Whether Streamlit does not know yet what was chosen here. */
  get isPending() {
    return this.#isPending;
  }

  /** Whether Streamlit has answered the last report. */
  get isHeard() {
    return this.#heardSerial === this.serial;
  }

  /** Reports at once what Streamlit does not know yet. */
  flush() {
    if (this.#isPending) this.#send();
  }

  /** Resolves once Streamlit has heard all that was reported. @returns {Promise<void>} */
  heard() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** What was not reported yet is given up; what Streamlit said last is then news here. */
  discard() {
    this.cancel();
    this.serial = this.#toldSerial;
    this.#submitted = {};
    this.#known.clear();
    this.#own.clear();
  }

  cancel() {
    this.#isPending = false;
    this.#waits = false;
    clearTimeout(this.#timer);
  }

  /**
   * Reports something of another origin, such as a file. What is handed back is taken over, but for what is chosen here
   * from now on; what was chosen before gives way.
   * @param {Choices} value
   */
  submit(value) {
    this.cancel();
    this.#note(this.#collect());
    this.#own.clear();
    this.#submitted = value;
    this.#submittedSerial = this.#toldSerial = ++this.serial;
    this.#tell("settled", { ...value, serial: this.serial });
  }

  /** Where an answer is on its way only after it: a run of the script and its charts would make that one slower. */
  #sendWhenIdle() {
    if (!this.#isBusy()) return this.#send();
    this.#waits = this.#isPending = true;
    this.#timer = setTimeout(() => this.#send(), PATIENCE);
  }

  #send() {
    this.cancel();
    const choices = this.#collect();
    if (!choices) return;
    this.#note(choices);
    this.#toldSerial = this.serial;
    const own = Object.entries(choices).filter(([name]) => this.#own.has(name));
    // Of two reports that follow each other closely Streamlit may hear the last alone: it says what was submitted too.
    this.#tell("settled", { ...this.#submitted, ...Object.fromEntries(own), serial: this.serial });
  }
}
