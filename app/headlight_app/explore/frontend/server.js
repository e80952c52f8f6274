// Explore's requests to the server, without Streamlit: one packed answer for each question.

import { askRoute, post } from "../../ui/frontend/server.js";
import { signalUrl } from "../../ui/frontend/signal_gallery/signal_gallery.js";
import { readFloats } from "../../ui/frontend/wire.js";

/** @import { AttentionGroup, Details, Found, Refusable, Routes } from "../../ui/frontend/types.js" */
/** @import { Packed } from "../../ui/frontend/wire.js" */
/** @import { ExploreState } from "./state.js" */
/** @import { ExploreAnswer, ExplorePage, ExploreServer } from "./types.js" */

const CACHE_SIZE = 48; // requests per answer

/** @typedef {{ found: Found | null, revision: number }} Entry */

/** @implements {ExploreServer} */
export class HttpServer {
  #state;
  #onArrival;
  #ended = new AbortController();
  /** The requests about an answer, by route and parameters. @type {WeakMap<ExploreAnswer, Map<string, Entry>>} */
  #details = new WeakMap();

  /**
   * @param {string} api address of the routes @param {ExploreState} state
   * @param {(route: string, details: object) => void} onArrival called when the answer to a `get` has arrived
   */
  constructor(api, state, onArrival) {
    this.api = api;
    this.#state = state;
    this.#onArrival = onArrival;
  }

  /** Aborts all requests. */
  end() {
    this.#ended.abort();
  }

  /**
   * @template {keyof Routes} Name @param {Name} route @param {Routes[Name]["request"]} request
   * @param {AbortSignal} [signal] @returns {Promise<Packed<Refusable<Routes[Name]["answer"]>>>}
   */
  post(route, request, signal) {
    return post(this.api, route, request, signal);
  }

  /** The current image; an empty name in the address is the first image. */
  imageName() {
    return this.#state.choice.image || this.#state.catalogue.images?.[0] || "";
  }

  /** @param {string} name */
  imageUrl(name) {
    return signalUrl(this.api, name);
  }

  /** @param {AttentionGroup} group @param {number} layer */
  async getLayerCodes(group, layer) {
    const { question } = this.#state.answer;
    const { meta, start, buffer } = await this.post("thumbnails", { question, attention: group.name, layer });
    return meta.error ? null : new Uint8Array(buffer, start);
  }

  /**
   * A route's result for the displayed answer, or null until it has arrived. It is requested after `wait` milliseconds,
   * unless it is no longer needed by then.
   * @template {keyof Routes} Name @param {Name} route @param {Details<Routes[Name]["request"]>} details
   * @returns {Found<Routes[Name]["answer"]> | null}
   */
  get(route, details, wait = 0) {
    const { answer, revision } = this.#state;
    const known = this.#details.get(answer) ?? new Map();
    this.#details.set(answer, known);
    const key = `${route} ${JSON.stringify(details)}`;
    const entry = known.get(key);
    if (entry) {
      entry.revision = revision;
      return /** @type {Found<Routes[Name]["answer"]> | null} */ (entry.found);
    }
    known.set(key, { found: null, revision });
    if (known.size > CACHE_SIZE) known.delete(known.keys().next().value);
    setTimeout(() => this.#fetch(answer, known, key, route, details), wait);
    return null;
  }

  /**
   * @param {ExploreAnswer} answer @param {Map<string, Entry>} known @param {string} key @param {string} route
   * @param {object} details
   */
  async #fetch(answer, known, key, route, details) {
    const entry = known.get(key);
    if (!entry || answer !== this.#state.latestAnswer) return;
    if (entry.revision !== this.#state.revision) {
      known.delete(key);
      return;
    }
    try {
      /** @type {Packed<Refusable<object>>} */
      const { meta, start, buffer } = await post(
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
 * @template {keyof Routes} Name @param {ExplorePage} page @param {Name} route
 * @param {Details<Routes[Name]["request"]>} details @returns {Promise<Found<Routes[Name]["answer"]>>}
 */
export async function askFloats(page, route, details) {
  const request = /** @type {Routes[Name]["request"]} */ ({ question: page.state.answer.question, ...details });
  const { meta, start, buffer } = await askRoute(page.server.api, route, request);
  return { meta, numbers: readFloats(buffer, start) };
}
