// A page under Node: its component with the HTML and the data that the app sends, and recorded answers.
//
// A question without a recorded answer fails its test: run `python -m tests.javascript.answers`.

import "./dom.js";
import { readFileSync } from "node:fs";
import { afterEach, mock } from "node:test";
import { gunzipSync } from "node:zlib";

const APP = new URL("../../app/headlight_app/", import.meta.url);
const { setTimeout: wait } = globalThis; // real time, only while answers are recorded
const PATIENCE = process.env.HEADLIGHT_RECORDS ? 60_000 : 5_000; // milliseconds until a test gives up
const FOCUSABLE = "button, input, select, textarea, summary, a[href], [tabindex]";
const [STEP, STEPS] = [50, 24]; // milliseconds of the simulated clock, and how often it moves until nothing is left to come
const PAUSE = 250; // milliseconds until a page reports a choice

/** @typedef {{ meta: Record<string, unknown>, numbers: string }} Answered */
/** @typedef {{ html: string, data: Record<string, any> }} Component */
/** @typedef {{ shiftKey?: boolean, ctrlKey?: boolean, altKey?: boolean, metaKey?: boolean }} Modifiers */

/** The questions that are not answered yet. */
let asked = 0;
/** Each question since the page was opened: its route and its body. @type {{ route: string, body: any }[]} */
let questions = [];
/** @type {(() => void)[]} */
const endings = [];

mock.timers.enable({ apis: ["setTimeout"] });
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** What the app sends for a key. @param {string} file @param {string} key @returns {Promise<any>} */
async function sent(file, key) {
  const recorder = process.env.HEADLIGHT_RECORDS;
  if (recorder) return JSON.parse(await send(`${recorder}/${file}`, key));
  const found = recorded(file)[key];
  if (!found) throw new Error(`No recorded answer for ${file}: ${key}`);
  return found;
}

/** @type {Map<string, Record<string, any>>} */
const files = new Map();

/** @param {string} file */
function recorded(file) {
  const path = new URL(`answers/${file}.json.gz`, import.meta.url);
  const known = files.get(file) ?? JSON.parse(gunzipSync(readFileSync(path)).toString());
  files.set(file, known);
  return known;
}

const { fetch: ask } = globalThis;

/** @param {string} address @param {string} body */
async function send(address, body) {
  return (await ask(address, { method: "POST", body })).text();
}

/** An answer in the server's format. @param {Answered} answer */
export function pack({ meta, numbers }) {
  const [text, raw] = [new TextEncoder().encode(JSON.stringify(meta)), Buffer.from(numbers, "base64")];
  const start = Math.ceil((4 + text.length) / 4) * 4;
  const body = new Uint8Array(start + raw.length);
  new DataView(body.buffer).setUint32(0, text.length, true);
  body.set(text, 4);
  body.set(raw, start);
  return new Response(body, { headers: { "Content-Type": "application/octet-stream" } });
}

/**
 * Answers the questions of a page from a file; `change` may replace an answer.
 * @param {string} file @param {(route: string, answer: Answered) => Answered | Promise<Answered>} change
 */
function answerFrom(file, change) {
  globalThis.fetch = /** @type {typeof fetch} */ (
    async (address, request) => {
      const route = String(address).replace(/^.*\bapi\//, "");
      const { client_id: _, request_number: __, known: ___, ...body } = JSON.parse(String(request?.body));
      questions.push({ route, body });
      asked++;
      const answered = sent(file, `${route} ${JSON.stringify(body)}`).then((answer) => change(route, answer));
      try {
        return pack(await Promise.race([answered, aborted(request?.signal)]));
      } finally {
        asked--;
      }
    }
  );
}

/** Fails once a question is given up. @param {AbortSignal | null | undefined} signal @returns {Promise<never>} */
function aborted(signal) {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(new DOMException("given up", "AbortError")));
  });
}

/** Lets time pass, until nothing happens any more. */
export async function settle() {
  for (let step = 0; step < STEPS; step++) {
    await idle();
    mock.timers.tick(STEP);
  }
  await idle();
}

/** Waits until every question that can be answered is answered. */
async function idle() {
  const start = performance.now();
  do {
    await new Promise((resolve) => setImmediate(resolve));
    if (asked && process.env.HEADLIGHT_RECORDS) await new Promise((resolve) => wait(resolve, 1));
    if (performance.now() - start > PATIENCE) throw new Error(`No answer: ${questions.at(-1)?.route}`);
  } while (asked > held);
}

/** The questions whose answers a test holds back. */
let held = 0;

/** Holds an answer back until `release` is called. */
export function holdAnswer() {
  let release = () => {};
  const released = new Promise((resolve) => {
    release = () => {
      held--;
      resolve(undefined);
    };
  });
  held++;
  return { released, release };
}

/** Waits until `check` returns something, while simulated time passes. @template T @param {() => T} check @returns {Promise<NonNullable<T>>} */
export async function until(check) {
  for (const start = performance.now(); performance.now() - start < PATIENCE; ) {
    const found = check();
    if (found) return found;
    await idle();
    mock.timers.tick(STEP);
  }
  throw new Error(`This never happened: ${check}`);
}

/**
 * Opens a component of a page.
 * @param {object} which @param {string} which.module its path from the app @param {string} which.address the page with its query, as `explore?model=sort`
 * @param {string} [which.component] @param {string} [which.file] of the answers
 * @param {Record<string, unknown>} [which.choice] further choices of the state
 * @param {Record<string, unknown>} [which.data] in place of data that the app sends
 * @param {(route: string, answer: Answered) => Answered | Promise<Answered>} [which.change] of each answer
 */
export async function open({
  module,
  address,
  component,
  file,
  choice = {},
  data: more = {},
  change = (_, answer) => answer,
}) {
  const name = address.split("?")[0];
  const source = file ?? name;
  /** @type {Record<string, Component>} */
  const components = await sent(source, address);
  const { html, data } = components[component ?? name];
  answerFrom(source, change);
  questions = [];
  history.replaceState(null, "", `/${address}`);
  const host = document.createElement("div");
  document.body.append(host);
  const place = host.attachShadow({ mode: "open" });
  place.innerHTML = html;
  const { default: run } = await import(new URL(module, APP).href);
  /** @type {Record<string, any>[]} */
  const reports = [];
  const given = {
    ...data,
    ...("pause" in data ? { pause: PAUSE } : {}),
    ...more,
    ...(data.state ? { state: { ...data.state, ...choice } } : {}),
  };
  const rerun = () =>
    run({
      parentElement: place,
      data: [given],
      setStateValue: (/** @type {string} */ _, /** @type {Record<string, any>} */ value) => reports.push(value),
    });
  const end = rerun();
  endings.push(() => {
    host.remove();
    end();
  });
  return new Opened(place, reports, given, rerun);
}

/** An open page, and what a visitor does there. */
export class Opened {
  /**
   * @param {ShadowRoot} place @param {Record<string, any>[]} reports @param {Record<string, any>} data
   * @param {() => void} [rerun] draws the page again, as a run of the app does
   */
  constructor(place, reports, data, rerun = () => {}) {
    this.place = place;
    this.reports = reports;
    this.data = data;
    this.rerun = rerun;
  }

  /** The questions since the page was opened. */
  get questions() {
    return questions;
  }

  /** An element by its test id. @param {string} name */
  get(name) {
    return this.one(`[data-testid="${name}"]`);
  }

  /** @param {string} selector */
  one(selector) {
    const found = this.place.querySelector(selector);
    if (!found) throw new Error(`The page has no ${selector}.`);
    return /** @type {HTMLElement} */ (found);
  }

  /** @param {string} selector */
  all(selector) {
    return /** @type {HTMLElement[]} */ ([...this.place.querySelectorAll(selector)]);
  }

  /** The words of an element, with single spaces. @param {string} name */
  text(name) {
    return wordsOf(this.get(name));
  }

  /** Whether an element is there and neither it nor what it is in is hidden. @param {string} name */
  shows(name) {
    const found = this.place.querySelector(`[data-testid="${name}"]`);
    return Boolean(found && !found.closest("[hidden]"));
  }

  get focused() {
    return /** @type {HTMLElement | null} */ (this.place.activeElement);
  }

  /** Presses and releases on an element. @param {string | Element} target @param {Modifiers & Record<string, unknown>} [modifiers] */
  click(target, modifiers = {}) {
    const element = this.#element(target);
    const options = { bubbles: true, composed: true, cancelable: true, ...modifiers };
    element.dispatchEvent(new PointerEvent("pointerdown", { pointerType: "mouse", ...options }));
    if (element.matches(FOCUSABLE)) element.focus();
    element.dispatchEvent(new PointerEvent("pointerup", { pointerType: "mouse", ...options }));
    element.dispatchEvent(new MouseEvent("click", options));
  }

  /** Presses a key on an element, or where the focus is. @param {string} key @param {string | Element | null} [target] @param {Modifiers} [modifiers] */
  press(key, target = null, modifiers = {}) {
    const element = this.#element(target ?? this.focused ?? document.body);
    element.focus();
    const options = { key, bubbles: true, composed: true, cancelable: true, ...modifiers };
    const goesOn = element.dispatchEvent(new KeyboardEvent("keydown", options));
    if (goesOn && (key === "Enter" || key === " ") && element.matches("button, summary"))
      element.dispatchEvent(new MouseEvent("click", { bubbles: true, composed: true, cancelable: true, ...modifiers }));
    element.dispatchEvent(new KeyboardEvent("keyup", options));
  }

  /** Writes into a box, moves a slider or chooses an option. @param {string | Element} target @param {string} value */
  fill(target, value) {
    const element = /** @type {HTMLInputElement} */ (this.#element(target));
    element.focus();
    element.value = value;
    for (const name of ["input", "change"]) element.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
  }

  /** Moves the pointer onto an element. @param {string | Element} target @param {Record<string, unknown>} [place] */
  hover(target, place = {}) {
    const element = this.#element(target);
    const options = { bubbles: true, composed: true, ...place };
    for (const name of ["pointerenter", "pointerover", "pointermove"])
      element.dispatchEvent(new PointerEvent(name, { pointerType: "mouse", ...options }));
    for (const name of ["mouseenter", "mouseover", "mousemove"])
      element.dispatchEvent(new MouseEvent(name, { ...options, bubbles: name !== "mouseenter" }));
  }

  /** Moves the pointer away from an element. @param {string | Element} target */
  leave(target) {
    const element = this.#element(target);
    element.dispatchEvent(new PointerEvent("pointerleave", { pointerType: "mouse" }));
    element.dispatchEvent(new MouseEvent("mouseleave"));
  }

  /** @param {string | Element} target */
  #element(target) {
    return /** @type {HTMLElement} */ (typeof target === "string" ? this.get(target) : target);
  }
}

/** The words of an element, with single spaces. @param {Element} element */
export function wordsOf(element) {
  return (element.textContent ?? "").replace(/\s+/g, " ").trim();
}
