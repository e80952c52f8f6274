// Requests of components to the server, without Streamlit: one packed answer for each question.

import { unpack } from "./wire.js";

/** @import { FileAnswer, FileRoute, ImageAnswer, Refusable, Routes, WaitingAnswer } from "./types.js" */
/** @import { Packed } from "./wire.js" */

const FIRST_PAUSE = 500; // milliseconds until a lost question is repeated
const LONGEST_PAUSE = 8000;
const LONG_WAIT = 1000; // milliseconds until the server is first asked why a question waits
const LOOK_AGAIN = 2000; // milliseconds until it is asked again

/**
 * Asks the server; if `unanswered` is given, repeats the question while the network fails.
 * @param {string} api address of the routes @param {string} route @param {unknown} body @param {AbortSignal} [signal]
 * @param {Unanswered} [unanswered]
 * @template [Meta=Record<string, unknown>] the JSON part of the route's answer
 * @returns {Promise<Packed<Meta>>}
 */
export async function post(api, route, body, signal, unanswered) {
  const ask = () =>
    fetch(`${api}/${route}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
  const answer = await (unanswered ? askUntilAnswered(ask, unanswered) : ask());
  if (!(answer.headers.get("Content-Type") || "").includes("octet-stream")) {
    throw new Error("The server gave no answer that this page can read. Reload the page.");
  }
  return unpack(await answer.arrayBuffer());
}

/** @typedef {(sentence: string) => void} Unanswered reports that the server does not answer, once for each attempt */

/**
 * Repeats a fetch, with growing pauses, while the network fails.
 * @template Answer @param {(attempt: number) => Promise<Answer>} fetched @param {Unanswered} [unanswered]
 */
export async function askUntilAnswered(fetched, unanswered = () => {}) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await fetched(attempt);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      unanswered(failureText(error));
      const pause = Math.min(FIRST_PAUSE * 2 ** attempt, LONGEST_PAUSE);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** An error as a sentence for the visitor. @param {unknown} error */
export function failureText(error) {
  if (error instanceof TypeError) return "The server does not answer. Is Headlight still running?";
  return error instanceof Error ? error.message : String(error);
}

/** @param {unknown} error */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/** A random name, with which the server drops questions that this page has replaced by newer ones. */
export function clientId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");
}

/**
 * The answer of a route. If the route refuses, throws an error with its sentence.
 * @template {keyof Routes} Name @param {string} api @param {Name} route @param {Routes[Name]["request"]} request
 * @param {AbortSignal} [signal] @param {Unanswered} [unanswered] @returns {Promise<Packed<Routes[Name]["answer"]>>}
 */
export async function askRoute(api, route, request, signal, unanswered) {
  /** @type {Packed<Refusable<Routes[Name]["answer"]>>} */
  const found = await post(api, route, request, signal, unanswered);
  if (found.meta.error) throw new Error(found.meta.error);
  return found;
}

/**
 * Tells why a question has no answer yet, after one second and then every two, until it is answered.
 * @param {string} api @param {AbortSignal} answered @param {(sentence: string) => void} tell
 */
export async function tellWaiting(api, answered, tell) {
  for (let pause = LONG_WAIT; ; pause = LOOK_AGAIN) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (answered.aborted) return;
    try {
      const answer = await fetch(`${api}/waiting`, { signal: answered });
      /** @type {Packed<WaitingAnswer>} */
      const { meta } = unpack(await answer.arrayBuffer());
      if (meta.sentence && !answered.aborted) tell(meta.sentence);
    } catch {
      return; // the question itself reports the failure
    }
  }
}

/**
 * A file that the server makes.
 * @template {FileRoute} Name @param {string} api @param {Name} route @param {Routes[Name]["request"]} request
 */
export async function fetchFile(api, route, request) {
  /** @type {Packed<FileAnswer>} */
  const { meta, start, buffer } = await askRoute(api, route, request);
  return new File([new Uint8Array(buffer, start)], meta.name, { type: meta.type });
}

/**
 * Uploads a visitor's file; returns the name with which only this visitor can use it.
 * @param {string} api @param {BodyInit} body @param {string} type
 */
export async function uploadFile(api, body, type) {
  const answer = await fetch(`${api}/image`, { method: "POST", headers: { "Content-Type": type }, body });
  /** @type {Packed<Refusable<ImageAnswer>>} */
  const { meta } = unpack(await answer.arrayBuffer());
  if (meta.error) throw new Error(meta.error);
  return meta.name;
}
