// Requests of every page: only the newest counts, and an error is shown above the older answer.

import { sentenceNodes } from "./dom/dom.ts";
import type { Api, Unanswered } from "./server.ts";
import { clientId, failureText, isAbort, post, tellWaiting } from "./server.ts";
import type { Refusable, Replaced, Routes } from "./types.ts";
import type { Packed } from "./wire.ts";

type Answered<Meta> = Packed<Meta> | { problem: string }; // or what is wrong, as a sentence

export class Questions {
  #api;
  #clientId = clientId();
  #number = 0;
  #asking: AbortController | null = null;

  constructor(api: Api) {
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
   * @param unanswered if given, the question is repeated after network failures
   * @param waiting receives the reason if the question has to wait for others
   */
  async ask<Name extends keyof Routes>(
    route: Name,
    request: Routes[Name]["request"],
    unanswered?: Unanswered,
    waiting?: (sentence: string) => void,
  ): Promise<Answered<Routes[Name]["answer"]> | null> {
    this.stop();
    const asking = new AbortController();
    this.#asking = asking;
    const answered = new AbortController();
    if (waiting) tellWaiting(this.#api, answered.signal, waiting);
    const order = { client_id: this.#clientId, request_number: ++this.#number };
    try {
      const found: Packed<Refusable<Routes[Name]["answer"]> & Partial<Replaced>> = await post(
        this.#api,
        route,
        { ...request, ...order },
        asking.signal,
        unanswered,
      );
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

/** Shows an error above the answer, which is an older one then, and marks the text boxes; "" clears both. */
export function showProblem(
  {
    problem,
    answer,
    status,
    text,
    texts = text ? [text] : [],
  }: { problem: HTMLElement; answer: HTMLElement; status?: HTMLElement; text?: HTMLElement; texts?: HTMLElement[] },
  sentence: string,
) {
  problem.replaceChildren(...sentenceNodes(sentence));
  problem.hidden = !sentence;
  for (const box of texts) box.ariaInvalid = String(Boolean(sentence));
  answer.classList.toggle("stale", Boolean(sentence));
  if (!sentence) answer.hidden = false;
  else if (status) status.textContent = "";
}
