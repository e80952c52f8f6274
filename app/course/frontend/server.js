// What the Course asks the server: a chapter's rows, and what a screen computes.

import { clientId, failureText, isAbort, post } from "../../ui/frontend/server.js";

/** @import { Packed } from "../../../model/rendering/static/ui/wire.js" */
/** @import { ChapterAnswer, ScreenAnswer, ScreenRequest } from "./types.d.ts" */

/**
 * The rows of a chapter; the first one where none is named.
 * @param {string} api @param {string} chapter @returns {Promise<ChapterAnswer>}
 */
export async function fetchChapter(api, chapter) {
  /** @type {Packed<ChapterAnswer>} */
  const { meta } = await post(api, "course_chapter", { chapter });
  if (meta.error) throw new Error(meta.error);
  return meta;
}

/** The questions of one screen: a newer one takes the place of those before it. */
export class ScreenQuestions {
  #api;
  #isLong;
  #client = clientId();
  #number = 0;
  /** @type {AbortController | null} */
  #pending = null;

  /** @param {string} api @param {boolean} isLong */
  constructor(api, isLong) {
    this.#api = api;
    this.#isLong = isLong;
  }

  /**
   * What the screen shows, or a sentence; null where a newer question has taken its place.
   * @param {ScreenRequest} request @returns {Promise<ScreenAnswer | null>}
   */
  async ask(request) {
    this.stop();
    const pending = new AbortController();
    this.#pending = pending;
    const number = ++this.#number;
    const body = { ...request, client_id: this.#client, request_number: number };
    try {
      /** @type {Packed<ScreenAnswer>} */
      const { meta } = this.#isLong
        ? await post(this.#api, "course_run", body, pending.signal)
        : await post(this.#api, "course_screen", body, pending.signal);
      return number !== this.#number || meta.superseded ? null : meta;
    } catch (error) {
      if (isAbort(error) || number !== this.#number) return null;
      return { rows: [], links: {}, error: failureText(error) };
    }
  }

  /** The answer that is on its way is not wanted any more. */
  stop() {
    this.#pending?.abort();
    this.#number++;
  }
}
