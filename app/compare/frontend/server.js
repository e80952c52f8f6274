// What the Compare page asks the server.

import { clientId, failureText, isAbort, post } from "../../ui/frontend/server.js";
import { Comparison } from "./comparison.js";

/** @import { Packed } from "../../../model/rendering/static/ui/wire.js" */
/** @import { AttentionGroup, CompareAnswer, CompareRequest, HeadIndex, Question } from "./types.d.ts" */
/** @typedef {{ comparison: Comparison } | { problem: string }} CompareResult */

export class CompareServer {
  #api;
  #clientId = clientId();
  #asked = 0;
  #answered = 0;
  /** @type {AbortController | null} */
  #pending = null;

  /** @param {string} api */
  constructor(api) {
    this.#api = api;
  }

  /** Whether the answer to the newest question is on its way. */
  get waiting() {
    return this.#answered !== this.#asked;
  }

  /**
   * Asks for all that depends on the models; null where a newer question has taken its place.
   * @param {CompareRequest} request @returns {Promise<CompareResult | null>}
   */
  async compare(request) {
    this.abort();
    const pending = new AbortController();
    this.#pending = pending;
    const number = ++this.#asked;
    const isNewest = () => number === this.#asked;
    try {
      const body = { ...request, client_id: this.#clientId, request_number: number };
      /** @type {Packed<CompareAnswer>} */
      const { meta, start, buffer } = await post(this.#api, "compare", body, pending.signal);
      if (!isNewest() || meta.superseded) return null;
      if (meta.error) return { problem: meta.error };
      return { comparison: new Comparison(meta, new Uint8Array(buffer, start), [request.side_a, request.side_b]) };
    } catch (error) {
      return isAbort(error) || !isNewest() ? null : { problem: failureText(error) };
    } finally {
      if (isNewest()) this.#answered = number;
    }
  }

  /**
   * The exact weights of one head, [query key]; null where the server has none.
   * @param {Question} question @param {AttentionGroup} group @param {HeadIndex} head
   */
  async fetchWeights(question, { stack, kind }, { layer, head }) {
    const body = { ...question, path: `${stack}.${layer}.${kind}.weights`, head };
    const { meta, start, buffer } = await post(this.#api, "head_matrix", body);
    return meta.error ? null : new Float32Array(buffer, start);
  }

  abort() {
    this.#pending?.abort();
  }
}
