// What the Generate page asks the server.

import { clientId, post } from "../../ui/frontend/server.js";

/** @import { Packed } from "../../../model/rendering/static/ui/wire.js" */
/** @import { AnyRecord, GenerateAnswer, GenerateState, GeneratedToken } from "./types.d.ts" */

/** What the server says in place of an answer. */
export class Refused extends Error {}

export class GenerateServer {
  #api;
  #clientId = clientId();
  #number = 0;
  #pending = new AbortController();

  /** @param {string} api */
  constructor(api) {
    this.#api = api;
  }

  /**
   * What comes after the tokens that were generated; null where a newer question has taken its place.
   * @param {GenerateState} state @param {readonly GeneratedToken[]} generated
   * @param {{ latest?: boolean, tokens?: boolean }} [options] `latest` makes older questions of this page void, `tokens` asks for the text's tokens
   * @returns {Promise<AnyRecord | null>}
   */
  async fetchStep({ choice, settings, sampling, useCache }, generated, { latest = false, tokens = false } = {}) {
    const { text, source, masked_positions, edits } = choice;
    const steps = generated.map(({ position, id }) => [position, id]);
    const question = { ...settings, text, source, masked_positions, edits, sampling };
    const body = { ...question, use_cache: useCache, with_tokens: tokens, generated: steps };
    const order = latest ? { client_id: this.#clientId, request_number: ++this.#number } : {};
    /** @type {Packed<GenerateAnswer>} */
    const { meta, start, buffer } = await post(this.#api, "generate", { ...body, ...order }, this.#pending.signal);
    if (meta.error) throw new Refused(meta.error);
    return meta.superseded ? null : { ...meta, numbers: new Float32Array(buffer, start), sampling };
  }

  /** Drops all questions that are on their way. */
  abort() {
    this.#pending.abort();
    this.#pending = new AbortController();
  }
}
