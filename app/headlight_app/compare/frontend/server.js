// Requests of the Compare page.

import { post } from "../../ui/frontend/server.js";

/** @import { Packed } from "../../ui/frontend/wire.js" */
/** @import { AttentionGroupAnswer, HeadIndex, Question, Refusable } from "./types.js" */

/**
 * The exact weights of one head, [query key]; null where the server has none.
 * @param {string} api @param {Question} question @param {AttentionGroupAnswer} group @param {HeadIndex} head
 */
export async function fetchWeights(api, question, { stack, kind }, { layer, head }) {
  const body = { question, path: `${stack}.${layer}.${kind}.weights`, head };
  /** @type {Packed<Refusable<object>>} */
  const { meta, start, buffer } = await post(api, "head_matrix", body);
  return meta.error ? null : new Float32Array(buffer, start);
}
