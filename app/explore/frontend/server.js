// What Explore asks the server, past Streamlit: one packed answer for each question.

import { readFloats } from "../../../model/rendering/static/ui/wire.js";
import { clientId, post } from "../../ui/frontend/server.js";

/** @import { Found, Grid } from "../../../model/rendering/static/types.js" */
/** @import { Packed } from "../../../model/rendering/static/ui/wire.js" */
/** @import { ExploreState } from "./state.js" */
/** @import { AskedQuestion, ExploreAnswer, ExplorePage, ExploreRoutes, ExploreServer, FileMeta } from "./types.js" */

const CACHE_SIZE = 48; // answers to questions about one text

/** @typedef {{ found: Found<unknown> | null, revision: number }} Entry */

/** @implements {ExploreServer} */
export class HttpServer {
  #state;
  #onArrival;
  #clientId = clientId();
  #number = 0;
  /** @type {AbortController | null} */
  #asking = null;
  /** What was asked about an answer, by route and question. @type {WeakMap<ExploreAnswer, Map<string, Entry>>} */
  #details = new WeakMap();

  /**
   * @param {string} api address of the routes @param {ExploreState} state
   * @param {() => void} onArrival something that `get` was asked for is here
   */
  constructor(api, state, onArrival) {
    this.api = api;
    this.#state = state;
    this.#onArrival = onArrival;
  }

  /**
   * Everything that depends on the model; the newest question wins. `number` counts the questions.
   * @param {AskedQuestion} question
   * @returns {Promise<{ number: number, answer: ExploreAnswer | null }>} no answer where there is a newer question
   */
  async ask(question) {
    this.cancel();
    this.#asking = new AbortController();
    const number = ++this.#number;
    const body = { ...question, client_id: this.#clientId, request_number: number };
    /** @type {Packed<ExploreAnswer>} */
    const { meta, start, buffer } = await post(this.api, "trace", body, this.#asking.signal);
    const answer = meta.superseded ? null : { ...meta, bytes: new Uint8Array(buffer, start) };
    return { number, answer: this.isNewest(number) ? answer : null };
  }

  /** The number of the newest question. */
  get newest() {
    return this.#number;
  }

  /** @param {number} number */
  isNewest(number) {
    return number === this.#number;
  }

  cancel() {
    this.#asking?.abort();
  }

  /**
   * @template Meta @param {string} route @param {object} body @param {AbortSignal} [signal]
   * @returns {Promise<Packed<Meta>>}
   */
  post(route, body, signal) {
    return post(this.api, route, body, signal);
  }

  /** The image at hand; an empty name in the address is the first drawn one. */
  imageName() {
    return this.#state.choice.image || this.#state.catalogue.images?.[0] || "";
  }

  /** @param {string} name */
  imageUrl(name) {
    return `${this.api}/image/${encodeURIComponent(name)}`;
  }

  /** @param {Grid} grid @param {number} layer */
  async getLayerCodes(grid, layer) {
    const { answer } = this.#state;
    const asked = { ...answer.question, attention: grid.name, layer };
    /** @type {Packed<{ error?: string }>} */
    const { meta, start, buffer } = await this.post("thumbnails", asked);
    return meta.error ? null : new Uint8Array(buffer, start);
  }

  /**
   * What a route says about the answer on the screen, or null until it is here. It is asked after `wait` milliseconds,
   * and not at all if by then nobody wants it any more.
   * @template {keyof ExploreRoutes} Name @param {Name} route @param {object} details
   * @returns {Found<ExploreRoutes[Name]> | null}
   */
  get(route, details, wait = 0) {
    const { answer, revision } = this.#state;
    const known = this.#details.get(answer) ?? new Map();
    this.#details.set(answer, known);
    const key = `${route} ${JSON.stringify(details)}`;
    const entry = known.get(key);
    if (entry) {
      entry.revision = revision;
      return /** @type {Found<ExploreRoutes[Name]> | null} */ (entry.found);
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
      /** @type {Packed<{ error?: string }>} */
      const { meta, start, buffer } = await this.post(route, { ...answer.question, ...details });
      entry.found = { meta, numbers: meta.error ? new Float32Array() : readFloats(buffer, start) };
      if (answer === this.#state.latestAnswer) this.#onArrival();
    } catch {
      known.delete(key); // asked again with the next change
    }
  }
}

/**
 * What a route says; where it says why it cannot, an error with that sentence.
 * @template Meta @param {ExplorePage} page @param {string} route @param {object} body @returns {Promise<Packed<Meta>>}
 */
export async function askRoute(page, route, body) {
  /** @type {Packed<Meta & { error?: string }>} */
  const found = await page.server.post(route, body);
  if (found.meta.error) throw new Error(found.meta.error);
  return found;
}

/** A file that the server makes. @param {ExplorePage} page @param {string} route @param {object} body */
export async function fetchFile(page, route, body) {
  /** @type {Packed<FileMeta>} */
  const { meta, start, buffer } = await askRoute(page, route, body);
  return new File([new Uint8Array(buffer, start)], meta.name, { type: meta.type });
}
