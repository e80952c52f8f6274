// Requests of every page: only the newest counts, and an error is shown above the older answer.

import { clientId, failureText, isAbort, post, tellWaiting } from "./server.js";

/** @import { Unanswered } from "./server.js" */
/** @import { Refusable, Replaced, Routes } from "./types.js" */
/** @import { Packed } from "./wire.js" */
/** @template Meta @typedef {Packed<Meta> | { problem: string }} Answered or what is wrong, as a sentence */

export class Questions {
  #api;
  #clientId = clientId();
  #number = 0;
  /** @type {AbortController | null} */
  #asking = null;

  /** @param {string} api address of the routes */
  constructor(api) {
    this.#api = api;
  }

  /** Whether the answer to the newest question is on its way. */
  get isAsking() {
    return this.#asking !== null;
  }

  /** How many questions there were. */
  get number() {
    return this.#number;
  }

  /**
   * Asks a question, which replaces all earlier ones; null if a newer question has replaced this one.
   * @template {keyof Routes} Name @param {Name} route @param {Routes[Name]["request"]} request
   * @param {Unanswered} [unanswered] if given, the question is repeated after network failures
   * @param {(sentence: string) => void} [waiting] receives the reason if the question has to wait for others
   * @returns {Promise<Answered<Routes[Name]["answer"]> | null>}
   */
  async ask(route, request, unanswered, waiting) {
    this.stop();
    const asking = new AbortController();
    this.#asking = asking;
    const answered = new AbortController();
    if (waiting) tellWaiting(this.#api, answered.signal, waiting);
    const order = { client_id: this.#clientId, request_number: ++this.#number };
    try {
      /** @type {Packed<Refusable<Routes[Name]["answer"]> & Partial<Replaced>>} */
      const found = await post(this.#api, route, { ...request, ...order }, asking.signal, unanswered);
      if (this.#asking !== asking || found.meta.superseded) return null;
      return found.meta.error ? { problem: found.meta.error } : found;
    } catch (error) {
      return this.#asking !== asking || isAbort(error) ? null : { problem: failureText(error) };
    } finally {
      answered.abort();
      if (this.#asking === asking) this.#asking = null;
    }
  }

  /** Cancels the pending question. */
  stop() {
    this.#asking?.abort();
    this.#asking = null;
  }
}

/**
 * Shows an error above the answer, which is an older one then, and marks the text boxes; "" clears both.
 * @param {{ problem: HTMLElement, answer: HTMLElement, status?: HTMLElement, text?: HTMLElement, texts?: HTMLElement[] }} elements
 * @param {string} sentence
 */
export function showProblem({ problem, answer, status, text, texts = text ? [text] : [] }, sentence) {
  problem.textContent = sentence;
  problem.hidden = !sentence;
  for (const box of texts) box.ariaInvalid = String(Boolean(sentence));
  answer.classList.toggle("stale", Boolean(sentence));
  if (!sentence) answer.hidden = false;
  else if (status) status.textContent = "";
}
