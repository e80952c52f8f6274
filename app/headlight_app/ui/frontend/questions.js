// Questions of every page: the newest counts, and a problem stands above an older answer.

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
   * Asks in place of all questions before; null where a newer question has taken this one's place.
   * @template {keyof Routes} Name @param {Name} route @param {Routes[Name]["request"]} request
   * @param {Unanswered} [unanswered] where it is given, a question that the network lost is asked again
   * @param {(sentence: string) => void} [waiting] is told why a question waits that others keep waiting
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

  /** The answer that is on its way is not wanted any more. */
  stop() {
    this.#asking?.abort();
    this.#asking = null;
  }
}

/**
 * Says what is wrong above the answer, which is an older one then, and by the boxes of the text; "": all is well.
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
