// The bridge to Streamlit: how a component is mounted, takes over what Streamlit says, and reports what was chosen.

import { listenToTouch } from "./touch_hint.js";

const SETTLE = 250; // milliseconds without a change before the rest of the page follows
const PATIENCE = 750; // milliseconds that a report waits for an answer; who leaves the page by then leaves the change behind
const SOON = 50; // milliseconds in which an answer that came late is on the screen

export const CHOICE_EVENT = "headlight-choice"; // of one component for another, which reports it

/**
 * Something is chosen that another component on the page may paint at once and report with its own choices.
 * @param {Record<string, unknown>} patch @returns {number | null} the number of its report; null where nobody took it
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
 * A component for Streamlit, one `page` for each place where it is mounted.
 * @template Data, Page @param {object} component
 * @param {(place: HTMLElement, data: Data) => Page} component.mount makes the page, once
 * @param {(page: Page, data: Data, tell: (name: string, value: unknown) => void) => void} component.update
 * @param {(page: Page) => void} [component.unmount] @returns {(run: Run<Data>) => () => void}
 */
export function defineComponent({ mount, update, unmount }) {
  /** @type {WeakMap<HTMLElement, { page: Page, endTouch: () => void }>} */
  const pages = new WeakMap();
  return ({ parentElement, data: [data], setStateValue }) => {
    const mounted = pages.get(parentElement) ?? {
      page: mount(parentElement, data),
      endTouch: listenToTouch(parentElement),
    };
    pages.set(parentElement, mounted);
    update(mounted.page, data, setStateValue);
    return () => {
      unmount?.(mounted.page);
      mounted.endTouch();
      pages.delete(parentElement);
    };
  };
}

/**
 * What a page has to report: `agreed` is the part that Streamlit hands back as data, `value` all that it is told.
 * @typedef {{ agreed: unknown, value: Record<string, unknown> }} Report
 */

/** Keeps a page and Streamlit in step: each change has a number, and only what is news to a side is taken over. */
export class Reporter {
  serial = 0;
  #accepted = false;
  #agreed = "";
  #waits = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #isPending = false;
  #heardSerial = 0;
  /** @type {(() => void)[]} */
  #waiting = [];
  /** @type {(name: string, value: unknown) => void} */
  #tell = () => {};
  #collect;
  #isBusy;

  /**
   * @param {() => Report | null} collect what to report now; null for nothing
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
   * Whether what Streamlit says is to be taken over: not what is known here, and nothing while the person has gone on
   * since Streamlit last heard from here.
   * @param {unknown} agreed @param {number} serial of the last report that Streamlit has heard
   */
  accepts(agreed, serial) {
    this.#heardSerial = serial;
    if (serial === this.serial) for (const resolve of this.#waiting.splice(0)) resolve();
    const text = JSON.stringify(agreed);
    if ((this.#accepted && serial !== this.serial) || text === this.#agreed) return false;
    if (!this.#accepted) this.serial = serial;
    this.#accepted = true;
    this.#agreed = text;
    return true;
  }

  /** Something was chosen: it is reported once nothing has changed for a moment. */
  changed() {
    this.serial++;
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
    this.serial = this.#heardSerial;
    this.#agreed = "";
  }

  cancel() {
    this.#isPending = false;
    this.#waits = false;
    clearTimeout(this.#timer);
  }

  /**
   * Reports something of another origin, such as a file; whatever is handed back is taken over.
   * @param {Record<string, unknown>} value
   */
  submit(value) {
    this.cancel();
    this.#agreed = "";
    this.serial++;
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
    const report = this.#collect();
    if (!report) return;
    this.#agreed = JSON.stringify(report.agreed);
    this.#tell("settled", { ...report.value, serial: this.serial });
  }
}
