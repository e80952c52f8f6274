// Requests of the Generate page.

import type { Api, Unanswered } from "../../ui/frontend/server.ts";
import { clientId, post } from "../../ui/frontend/server.ts";
import type { Packed } from "../../ui/frontend/wire.ts";
import type {
  AnyRecord,
  GenerateAnswer,
  GeneratedToken,
  GenerateRequest,
  GenerateState,
  Refusal,
  Replaced,
  StepRecord,
} from "./types.ts";

/** The server's error sentence instead of an answer. */
export class Refused extends Error {}

export class GenerateServer {
  #api;
  #unanswered;
  #clientId = clientId();
  #number = 0;
  #pending = new AbortController();

  constructor(api: Api, unanswered: Unanswered) {
    this.#api = api;
    this.#unanswered = unanswered;
  }

  /**
   * The answer after the generated tokens; null if a newer question replaced it. `latest` cancels older questions of
   * this page, `tokens` requests the text's tokens.
   */
  async fetchStep(
    state: GenerateState,
    generated: readonly GeneratedToken[],
    { latest = false, tokens = false }: { latest?: boolean; tokens?: boolean } = {},
  ): Promise<AnyRecord | null> {
    const { sampling, useCache } = state;
    const request: GenerateRequest = {
      question: questionOf(state),
      sampling,
      generated: generated.map(({ position, id }) => [position, id]),
      use_cache: useCache,
      with_tokens: tokens,
      ...(latest && { client_id: this.#clientId, request_number: ++this.#number }),
    };
    const { meta, start, buffer }: Packed<GenerateAnswer & Partial<Refusal & Replaced>> = await post(
      this.#api,
      "generate",
      request,
      this.#pending.signal,
      this.#unanswered,
    );
    if (meta.error) throw new Refused(meta.error);
    if (meta.superseded) return null;
    if (!meta.step) return { done: true, tokens: meta.tokens };
    const step = meta.step as unknown as StepRecord; // views are JSON for the server
    return { ...step, tokens: meta.tokens, numbers: new Float32Array(buffer, start), sampling };
  }

  /** Aborts all pending requests. */
  abort() {
    this.#pending.abort();
    this.#pending = new AbortController();
  }
}

/** The question to the model. */
export function questionOf({ settings, choice }: Pick<GenerateState, "settings" | "choice">) {
  const { text, source, image, chat, masked_positions, edits, patch_from } = choice;
  return { ...settings, text, source, text_pair: "", chat, image, masked_positions, edits, patch_from };
}
