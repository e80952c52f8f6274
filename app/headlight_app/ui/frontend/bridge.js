// The bridge to Streamlit: mounts a component, takes over data from Streamlit, and reports choices.

import { listenToReadings } from "./dom/announce.js";
import { listenToTouch } from "./touch_hint.js";

const SETTLE = 250; // milliseconds without a change before the rest of the page follows
const PATIENCE = 750; // milliseconds that a report waits for an answer; changes are lost if the page closes first
const SOON = 50; // milliseconds until an answer that came late is on the screen

export const CHOICE_EVENT = "headlight-choice"; // a component's choice, reported by another component

/**
 * Offers a choice to another component on the page, which may paint it at once and report it with its own choices.
 * @param {Record<string, unknown>} patch @returns {number | null} the number of its report; null if it was not taken
 */
export function chooseElsewhere(patch) {
  /** @type {{ patch: Record<string, unknown>, serial?: number }} */
  const detail = { patch };
  const taken = !document.dispatchEvent(new CustomEvent(CHOICE_EVENT, { detail, cancelable: true }));
  return taken ? (detail.serial ?? 0) : null;
}

/**
 * The argument of Streamlit's call, at each run and each change of data or of the theme.
 * @template Data
 * @typedef {object} Run
 * @property {HTMLElement} parentElement
 * @property {[Data]} data
 * @property {(name: string, value: unknown) => void} setStateValue
 */

/**
 * A mounted component.
 * @template Data @typedef {object} Mounted
 * @property {(data: Data, tell: (name: string, value: unknown) => void) => void} update
 * @property {() => void} end
 */

/**
 * A component for Streamlit; `mount` is called once for each place.
 *
 * Streamlit requests a clean-up for every run that another run overtook, in any order and while the component stays on
 * the screen: two changes while the modules load are enough. So a place is cleaned up only once it has left the
 * document; a return to the page gets new elements.
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
 * The entries of `whole` whose names are in `part`.
 * @template {object} Part @param {Part} whole @param {Part} part @returns {Part}
 */
export function pick(whole, part) {
  const names = /** @type {(keyof Part)[]} */ (Object.keys(part));
  return /** @type {Part} */ (Object.fromEntries(names.map((name) => [name, whole[name]])));
}

/** @typedef {Record<string, unknown>} Choices by their names in Streamlit */

/**
 * Synchronises a page and Streamlit, choice by choice: each change has a number, a side takes over only values that are
 * new to it, and only choices made here are reported. So a choice here never undoes one made elsewhere on the page.
 */
export class Reporter {
  serial = 0;
  #hasBegun = false;
  #submittedSerial = 0;
  /** Submitted, but not yet acknowledged by Streamlit. @type {Choices} */
  #submitted = {};
  /** The values last received or chosen, as JSON. @type {Map<string, string>} */
  #known = new Map();
  /** Choices made here and not yet acknowledged, with the number of the change. @type {Map<string, number>} */
  #own = new Map();
  #waits = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #isPending = false;
  #heardSerial = 0;
  /** The number of the last report. Later reports need other numbers: Streamlit applies each number once. */
  #toldSerial = 0;
  /** @type {(() => void)[]} */
  #waiting = [];
  /** The path at the last run of this page. After Back to another page, `location` differs from it at once. */
  #path = "";
  /** @type {(name: string, value: unknown) => void} */
  #tell = () => {};
  #collect;
  #isBusy;

  /**
   * @param {() => Choices | null} collect the current choices; null if there is nothing to report
   * @param {() => boolean} [isBusy] whether an answer is pending; a report should wait for it
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
    this.#path = location.pathname;
  }

  /**
   * The values that the page should take over from Streamlit: all that it sent, except choices made here and not yet
   * acknowledged. Null if nothing is new.
   * @template {Choices} Said @param {Said} said @param {number} serial of the last report that Streamlit acknowledged
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

  /** Values that differ from the known ones were chosen here. @param {Choices | null} choices */
  #note(choices) {
    for (const [name, value] of Object.entries(choices ?? {})) {
      const text = JSON.stringify(value);
      if (this.#known.get(name) === text) continue;
      this.#known.set(name, text);
      this.#own.set(name, this.serial);
    }
  }

  /** Call after a choice: if it is new, it is reported once nothing has changed for a moment. */
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

  /** Call when an answer has arrived: a report that waited for it follows once the answer is on the screen. */
  idle() {
    if (this.#waits) this.schedule(SOON);
  }

  /** Whether choices made here are still unreported. */
  get isPending() {
    return this.#isPending;
  }

  /** Whether Streamlit has answered the last report. */
  get isHeard() {
    return this.#heardSerial === this.serial;
  }

  /** Reports unreported choices at once. */
  flush() {
    if (this.#isPending) this.#send();
  }

  /** Resolves once Streamlit has acknowledged every report. @returns {Promise<void>} */
  heard() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Drops unreported choices; the values that Streamlit sent last then count as new. */
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
   * Reports something from another source, such as a file. Streamlit's answer overrides the choices made before, but
   * not those made from now on.
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

  /** Waits for a pending answer first: a run of the script with its charts would slow it down. */
  #sendWhenIdle() {
    if (!this.#isBusy()) return this.#send();
    this.#waits = this.#isPending = true;
    this.#timer = setTimeout(() => this.#send(), PATIENCE);
  }

  /** Nothing is reported from a page that is being left: Streamlit would stay on it. */
  #send() {
    this.cancel();
    const choices = location.pathname === this.#path ? this.#collect() : null;
    if (!choices) return;
    this.#note(choices);
    this.#toldSerial = this.serial;
    const own = Object.entries(choices).filter(([name]) => this.#own.has(name));
    // Of two reports in quick succession Streamlit may receive only the last, so each repeats what was submitted.
    this.#tell("settled", { ...this.#submitted, ...Object.fromEntries(own), serial: this.serial });
  }
}
