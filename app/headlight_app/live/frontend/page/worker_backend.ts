// Questions of a live page to its worker, one at a time: an answer that nobody waits for any more is never computed.

import type { Backend } from "../../../ui/frontend/server.ts";
import type { FromWorker, OpenModel, ToWorker } from "./types.ts";

type Asked = { route: string; body: unknown; answered: (answer: ArrayBuffer) => void; failed: (error: Error) => void };

export class WorkerBackend implements Backend {
  readonly patches = false;
  #worker;
  #routes;
  #waiting: Asked[] = [];
  #current: Asked | null = null;
  #isOpen = false;
  /** Why there are no answers. */
  #problem = "";
  #settle = () => {};
  /** Ends when the model is open, or cannot be opened. */
  readonly settled = new Promise<void>((settle) => {
    this.#settle = settle;
  });

  /** @param routes that the worker answers @param model what it opens first, once that is read */
  constructor(worker: Worker, routes: readonly string[], model: Promise<OpenModel>) {
    this.#worker = worker;
    this.#routes = new Set(routes);
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(data);
    worker.onerror = ({ message }) => this.#fail(`This page cannot compute here: ${message || "no worker starts"}.`);
    model
      .then((open) => this.#open(open))
      .catch((error) => this.#fail(error instanceof Error ? error.message : String(error)));
  }

  answers(route: string) {
    return this.#routes.has(route);
  }

  post(route: string, body: unknown, signal?: AbortSignal): Promise<ArrayBuffer> {
    return new Promise((answered, failed) => {
      if (this.#problem || !this.answers(route)) {
        failed(new Error(this.#problem || "This page cannot answer that."));
        return;
      }
      const asked = { route, body, answered, failed };
      signal?.addEventListener("abort", () => {
        this.#waiting = this.#waiting.filter((one) => one !== asked);
        failed(new DOMException("given up", "AbortError"));
      });
      this.#waiting.push(asked);
      this.#next();
    });
  }

  #next() {
    if (!this.#isOpen || this.#current) return;
    this.#current = this.#waiting.shift() ?? null;
    if (this.#current) this.#send({ ask: { route: this.#current.route, body: this.#current.body } });
  }

  #open(model: OpenModel) {
    // Large parts are not copied.
    this.#send(
      { open: model },
      [model.model, model.weights].filter((part) => part instanceof ArrayBuffer),
    );
  }

  #send(message: ToWorker, transfer: Transferable[] = []) {
    this.#worker.postMessage(message, transfer);
  }

  #receive(message: FromWorker) {
    if ("opened" in message) {
      this.#isOpen = true;
      this.#settle();
    } else if ("closed" in message) return this.#fail(message.closed);
    else {
      const asked = this.#current;
      this.#current = null;
      if ("answer" in message) asked?.answered(message.answer);
      else asked?.failed(new Error(message.problem));
    }
    this.#next();
  }

  #fail(problem: string) {
    this.#problem = problem;
    this.#settle();
    for (const asked of [...(this.#current ? [this.#current] : []), ...this.#waiting]) asked.failed(new Error(problem));
    this.#current = null;
    this.#waiting = [];
  }
}
