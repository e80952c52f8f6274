// What the Course asks the server for a chapter.

import { post } from "../../ui/frontend/server.js";

/** @import { Unanswered } from "../../ui/frontend/server.js" */
/** @import { ChapterAnswer, Refusable } from "./types.js" */
/** @import { Packed } from "../../ui/frontend/wire.js" */

/**
 * The rows of a chapter; the first one where none is named.
 * @param {string} api @param {string} chapter @param {Unanswered} unanswered
 * @returns {Promise<ChapterAnswer>}
 */
export async function fetchChapter(api, chapter, unanswered) {
  /** @type {Packed<Refusable<ChapterAnswer>>} */
  const { meta } = await post(api, "course_chapter", { chapter }, undefined, unanswered);
  if (meta.error) throw new Error(meta.error);
  return meta;
}
