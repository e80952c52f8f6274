// Explore's requests, without Streamlit: one packed answer for each question, from the server or from the browser.

import type { Api } from "../../ui/frontend/server.ts";
import { askRoute, backendOf, post } from "../../ui/frontend/server.ts";
import { signalUrl } from "../../ui/frontend/signal_gallery/signal_gallery.ts";
import type { AttentionGroup, Details, Found, Refusable, Routes } from "../../ui/frontend/types.ts";
import type { Packed } from "../../ui/frontend/wire.ts";
import { readFloats } from "../../ui/frontend/wire.ts";
import type { ExploreState } from "./state.ts";
import type { ExploreAnswer, ExplorePage, ExploreServer } from "./types.ts";

const CACHE_SIZE = 48; // requests per answer
const UNANSWERED: Found = { meta: { error: "This page cannot answer that." }, numbers: new Float32Array() };

type Entry = { found: Found | null; revision: number };

export class ExploreQuestions implements ExploreServer {
  api: Api;

  #state;
  #onArrival;
  #ended = new AbortController();
  /** The requests about an answer, by route and parameters. */
  #details: WeakMap<ExploreAnswer, Map<string, Entry>> = new WeakMap();

  /** @param onArrival called when the answer to a `get` has arrived */
  constructor(api: Api, state: ExploreState, onArrival: (route: string, details: object) => void) {
    this.api = api;
    this.#state = state;
    this.#onArrival = onArrival;
  }

  answers(route: string) {
    return backendOf(this.api).answers(route);
  }

  get patches() {
    return backendOf(this.api).patches;
  }

  /** Aborts all requests. */
  end() {
    this.#ended.abort();
  }

  post<Name extends keyof Routes>(
    route: Name,
    request: Routes[Name]["request"],
    signal?: AbortSignal,
  ): Promise<Packed<Refusable<Routes[Name]["answer"]>>> {
    return post(this.api, route, request, signal);
  }

  /** The current image; an empty name in the address is the first image. */
  imageName() {
    return this.#state.choice.image || this.#state.catalogue.images?.[0] || "";
  }

  imageUrl(name: string) {
    return signalUrl(this.api, name);
  }

  async getLayerCodes(group: AttentionGroup, layer: number) {
    const { question } = this.#state.answer;
    const { meta, start, buffer } = await this.post("thumbnails", { question, attention: group.name, layer });
    return meta.error ? null : new Uint8Array(buffer, start);
  }

  /**
   * A route's result for the displayed answer, or null until it has arrived. It is requested after `wait` milliseconds,
   * unless it is no longer needed by then.
   */
  get<Name extends keyof Routes>(
    route: Name,
    details: Details<Routes[Name]["request"]>,
    wait = 0,
  ): Found<Routes[Name]["answer"]> | null {
    if (!this.answers(route)) return UNANSWERED as Found<Routes[Name]["answer"]>;
    const { answer, revision } = this.#state;
    const known = this.#details.get(answer) ?? new Map();
    this.#details.set(answer, known);
    const key = `${route} ${JSON.stringify(details)}`;
    const entry = known.get(key);
    if (entry) {
      entry.revision = revision;
      return entry.found as Found<Routes[Name]["answer"]> | null;
    }
    known.set(key, { found: null, revision });
    if (known.size > CACHE_SIZE) known.delete(known.keys().next().value);
    setTimeout(() => this.#fetch(answer, known, key, route, details), wait);
    return null;
  }

  async #fetch(answer: ExploreAnswer, known: Map<string, Entry>, key: string, route: string, details: object) {
    const entry = known.get(key);
    if (!entry || answer !== this.#state.latestAnswer) return;
    if (entry.revision !== this.#state.revision) {
      known.delete(key);
      return;
    }
    try {
      const { meta, start, buffer }: Packed<Refusable<object>> = await post(
        this.api,
        route,
        { question: answer.question, ...details },
        this.#ended.signal,
        () => {}, // the displayed question already reports a server that does not answer
      );
      entry.found = { meta, numbers: meta.error ? new Float32Array() : readFloats(buffer, start) };
      if (answer === this.#state.latestAnswer) this.#onArrival(route, details);
    } catch {
      known.delete(key); // requested again with the next change
    }
  }
}

/**
 * A route's result for the displayed answer, with its numbers. Throws an error with the server's reason if it fails.
 */
export async function askFloats<Name extends keyof Routes>(
  page: ExplorePage,
  route: Name,
  details: Details<Routes[Name]["request"]>,
): Promise<Found<Routes[Name]["answer"]>> {
  const request = { question: page.state.answer.question, ...details } as Routes[Name]["request"];
  const { meta, start, buffer } = await askRoute(page.server.api, route, request);
  return { meta, numbers: readFloats(buffer, start) };
}
