// Requests of the Generate page.

import { clientId, post } from "../../ui/frontend/server.js";

/** @import { Unanswered } from "../../ui/frontend/server.js" */
/** @import { Packed } from "../../ui/frontend/wire.js" */
/** @import { AnyRecord, GenerateAnswer, GenerateRequest, GenerateState, GeneratedToken, Refusal, Replaced } from "./types.d.ts" */

/** The server's error sentence instead of an answer. */
export class Refused extends Error {}

export class GenerateServer {
  #api;
  #unanswered;
  #clientId = clientId();
  #number = 0;
  #pending = new AbortController();

  /** @param {string} api @param {Unanswered} unanswered */
  constructor(api, unanswered) {
    this.#api = api;
    this.#unanswered = unanswered;
  }

  /**
   * The answer after the generated tokens; null if a newer question replaced it.
   * @param {GenerateState} state @param {readonly GeneratedToken[]} generated
   * @param {{ latest?: boolean, tokens?: boolean }} [options] `latest` cancels older questions of this page, `tokens`
   * requests the text's tokens
   * @returns {Promise<AnyRecord | null>}
   */
  async fetchStep(state, generated, { latest = false, tokens = false } = {}) {
    const { sampling, useCache } = state;
    /** @type {GenerateRequest} */
    const request = {
      question: questionOf(state),
      sampling,
      generated: generated.map(({ position, id }) => [position, id]),
      use_cache: useCache,
      with_tokens: tokens,
      ...(latest && { client_id: this.#clientId, request_number: ++this.#number }),
    };
    /** @type {Packed<GenerateAnswer & Partial<Refusal & Replaced>>} */
    const { meta, start, buffer } = await post(this.#api, "generate", request, this.#pending.signal, this.#unanswered);
    if (meta.error) throw new Refused(meta.error);
    if (meta.superseded) return null;
    if (!meta.step) return { done: true, tokens: meta.tokens };
    return { ...meta.step, tokens: meta.tokens, numbers: new Float32Array(buffer, start), sampling };
  }

  /** Aborts all pending requests. */
  abort() {
    this.#pending.abort();
    this.#pending = new AbortController();
  }
}

/** The question to the model. @param {Pick<GenerateState, "settings" | "choice">} state */
export function questionOf({ settings, choice }) {
  const { text, source, image, chat, masked_positions, edits, patch_from } = choice;
  return { ...settings, text, source, text_pair: "", chat, image, masked_positions, edits, patch_from };
}
