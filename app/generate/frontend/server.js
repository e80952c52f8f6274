// What the Generate page asks the server.

import { post, visitorName } from "../../ui/frontend/server.js";

/** @import { Packed } from "../../../model/rendering/static/ui/wire.js" */
/** @import { AnyRecord, GenerateAnswer, GenerateState, WrittenToken } from "./types.d.ts" */

/** What the server says in place of an answer. */
export class Refused extends Error {}

export class GenerateServer {
  #api;
  #visitor = visitorName();
  #number = 0;
  #pending = new AbortController();

  /** @param {string} api */
  constructor(api) {
    this.#api = api;
  }

  /**
   * What comes after the tokens that were written; null where a newer question has taken its place.
   * @param {GenerateState} state
   * @param {readonly WrittenToken[]} written
   * @param {{ latest?: boolean, tokens?: boolean }} [options] `latest` makes older questions of this page void, `tokens` asks for the text's tokens
   * @returns {Promise<AnyRecord | null>}
   */
  async fetchStep({ choice, settings, sampling, cached }, written, { latest = false, tokens = false } = {}) {
    const { text, source, masked, edits } = choice;
    const steps = written.map(({ place, id }) => [place, id]);
    const body = { ...settings, text, source, masked, edits, rule: sampling, remember: cached, tokens, written: steps };
    const order = latest ? { visitor: this.#visitor, number: ++this.#number } : {};
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
