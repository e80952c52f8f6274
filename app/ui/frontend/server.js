// What components ask the server itself, past Streamlit: one packed answer for each question.

import { unpack } from "../../../model/rendering/static/ui/wire.js";

/** @import { Packed } from "../../../model/rendering/static/ui/wire.js" */

/**
 * @param {string} api address of the routes @param {string} route @param {unknown} body @param {AbortSignal} [signal]
 * @template [Meta=Record<string, unknown>] what the route's answer says beside its numbers
 * @returns {Promise<Packed<Meta>>}
 */
export async function post(api, route, body, signal) {
  const answer = await fetch(`${api}/${route}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (!(answer.headers.get("Content-Type") || "").includes("octet-stream")) {
    throw new Error("The server gave no answer that this page can read. Reload the page.");
  }
  return unpack(await answer.arrayBuffer());
}

/** A failure as a sentence for the person. @param {unknown} error */
export function failureText(error) {
  if (error instanceof TypeError) return "The server does not answer. Is Headlight still running?";
  return error instanceof Error ? error.message : String(error);
}

/** @param {unknown} error */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/** A random name, by which the server drops questions that this page has replaced by newer ones. */
export function clientId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");
}
