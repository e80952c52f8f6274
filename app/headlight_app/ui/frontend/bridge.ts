// The bridge to Streamlit: mounts a component, takes over data from Streamlit, and reports choices.

import { listenToReadings } from "./dom/announce.ts";
import { listenToTouch } from "./touch_hint.ts";

const SETTLE = 250; // milliseconds without a change before the rest of the page follows
const PATIENCE = 750; // milliseconds that a report waits for an answer; changes are lost if the page closes first
const SOON = 50; // milliseconds until an answer that came late is on the screen

export const CHOICE_EVENT = "headlight-choice"; // a component's choice, reported by another component

/**
 * Offers a choice to another component on the page, which may paint it at once and report it with its own choices.
 * @returns the number of its report; null if it was not taken
 */
export function chooseElsewhere(patch: Record<string, unknown>): number | null {
  const detail: { patch: Record<string, unknown>; serial?: number } = { patch };
  const taken = !document.dispatchEvent(new CustomEvent(CHOICE_EVENT, { detail, cancelable: true }));
  return taken ? (detail.serial ?? 0) : null;
}

/** The argument of Streamlit's call, at each run and each change of data or of the theme. */
interface Run<Data> {
  parentElement: HTMLElement;
  data: [Data];
  setStateValue: (name: string, value: unknown) => void;
}

/** A mounted component. */
interface Mounted<Data> {
  update: (data: Data, tell: (name: string, value: unknown) => void) => void;
  end: () => void;
}

/**
 * A component for Streamlit; `mount` is called once for each place.
 *
 * Streamlit requests a clean-up for every run that another run overtook, in any order and while the component stays on
 * the screen: two changes while the modules load are enough. So a place is cleaned up only once it has left the
 * document; a return to the page gets new elements.
 */
export function defineComponent<Data>(
  mount: (place: HTMLElement, data: Data) => Mounted<Data>,
): (run: Run<Data>) => () => void {
  const pages: WeakMap<HTMLElement, { page: Mounted<Data>; endings: (() => void)[] }> = new WeakMap();
  const end = (place: HTMLElement) => {
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

/** The entries of `whole` whose names are in `part`. */
export function pick<Part extends object>(whole: Part, part: Part): Part {
  const names = Object.keys(part) as (keyof Part)[];
  return Object.fromEntries(names.map((name) => [name, whole[name]])) as Part;
}

type Choices = Record<string, unknown>; // by their names in Streamlit

/**
 * Synchronises a page and Streamlit, choice by choice: each change has a number, a side takes over only values that are
 * new to it, and only choices made here are reported. So a choice here never undoes one made elsewhere on the page.
 */
export class Reporter {
  settle: number;

  serial = 0;
  #hasBegun = false;
  #submittedSerial = 0;
  /** Submitted, but not yet acknowledged by Streamlit. */
  #submitted: Choices = {};
  /** The values last received or chosen, as JSON. */
  #known: Map<string, string> = new Map();
  /** Choices made here and not yet acknowledged, with the number of the change. */
  #own: Map<string, number> = new Map();
  #waits = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isPending = false;
  #heardSerial = 0;
  /** The number of the last report. Later reports need other numbers: Streamlit applies each number once. */
  #toldSerial = 0;
  #waiting: (() => void)[] = [];
  /** The path at the last run of this page. After Back to another page, `location` differs from it at once. */
  #path = "";
  #tell: (name: string, value: unknown) => void = () => {};
  #collect;
  #isBusy;

  /**
   * @param collect the current choices; null if there is nothing to report
   * @param isBusy whether an answer is pending; a report should wait for it
   * @param settle milliseconds without a change before the rest of the page follows
   */
  constructor(collect: () => Choices | null, isBusy: () => boolean = () => false, settle: number = SETTLE) {
    this.#collect = collect;
    this.#isBusy = isBusy;
    this.settle = settle;
  }

  /** @param tell Streamlit's own function, a new one at each run */
  connect(tell: (name: string, value: unknown) => void) {
    this.#tell = tell;
    this.#path = location.pathname;
  }

  /**
   * The values that the page should take over from Streamlit: all that it sent, except choices made here and not yet
   * acknowledged. Null if nothing is new.
   * @param serial of the last report that Streamlit acknowledged
   */
  news<Said extends Choices>(said: Said, serial: number): Said | null {
    this.#hear(serial);
    if (serial < this.#submittedSerial) return null;
    const fresh = Object.entries(said)
      .map(([name, value]) => [name, JSON.stringify(value)] as const)
      .filter(([name, text]) => !this.#own.has(name) && this.#known.get(name) !== text);
    for (const [name, text] of fresh) this.#known.set(name, text);
    if (!fresh.length) return null;
    const own = [...this.#own.keys()].map((name) => [name, JSON.parse(this.#known.get(name) ?? "null")]);
    return { ...said, ...Object.fromEntries(own) };
  }

  #hear(serial: number) {
    if (!this.#hasBegun) this.serial = this.#toldSerial = serial;
    this.#hasBegun = true;
    this.#heardSerial = serial;
    if (serial >= this.#submittedSerial) this.#submitted = {};
    if (serial === this.serial) for (const resolve of this.#waiting.splice(0)) resolve();
    for (const [name, change] of this.#own) if (change <= serial) this.#own.delete(name);
  }

  /** Values that differ from the known ones were chosen here. */
  #note(choices: Choices | null) {
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

  /** Resolves once Streamlit has acknowledged every report. */
  heard(): Promise<void> {
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
   */
  submit(value: Choices) {
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
