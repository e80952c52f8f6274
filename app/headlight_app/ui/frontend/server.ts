// Requests of components to the server, without Streamlit: one packed answer for each question.

import { IMAGE_TOO_LARGE, MAX_IMAGE_BYTES } from "./contract.ts";
import type { FileAnswer, FileRoute, ImageAnswer, Refusable, Routes, WaitingAnswer } from "./types.ts";
import type { Packed } from "./wire.ts";
import { unpack } from "./wire.ts";

const FIRST_PAUSE = 500; // milliseconds until a lost question is repeated
const LONGEST_PAUSE = 8000;
const LONG_WAIT = 1000; // milliseconds until the server is first asked why a question waits
const LOOK_AGAIN = 2000; // milliseconds until it is asked again

/**
 * Asks the server; if `unanswered` is given, repeats the question while the network fails.
 * @template Meta the JSON part of the route's answer @param api address of the routes
 */
export async function post<Meta = Record<string, unknown>>(
  api: string,
  route: string,
  body: unknown,
  signal?: AbortSignal,
  unanswered?: Unanswered,
): Promise<Packed<Meta>> {
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

export type Unanswered = (sentence: string) => void; // reports that the server does not answer, once for each attempt

/** Repeats a fetch, with growing pauses, while the network fails. */
async function askUntilAnswered<Answer>(
  fetched: (attempt: number) => Promise<Answer>,
  unanswered: Unanswered = () => {},
) {
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

/** An error as a sentence for the visitor. */
export function failureText(error: unknown) {
  if (error instanceof TypeError) return "The server does not answer. Is Headlight still running?";
  return error instanceof Error ? error.message : String(error);
}

export function isAbort(error: unknown) {
  return error instanceof DOMException && error.name === "AbortError";
}

/** A random name, with which the server drops questions that this page has replaced by newer ones. */
export function clientId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");
}

/** The answer of a route. If the route refuses, throws an error with its sentence. */
export async function askRoute<Name extends keyof Routes>(
  api: string,
  route: Name,
  request: Routes[Name]["request"],
  signal?: AbortSignal,
  unanswered?: Unanswered,
): Promise<Packed<Routes[Name]["answer"]>> {
  const found: Packed<Refusable<Routes[Name]["answer"]>> = await post(api, route, request, signal, unanswered);
  if (found.meta.error) throw new Error(found.meta.error);
  return found;
}

/** Tells why a question has no answer yet, after one second and then every two, until it is answered. */
export async function tellWaiting(api: string, answered: AbortSignal, tell: (sentence: string) => void) {
  for (let pause = LONG_WAIT; ; pause = LOOK_AGAIN) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (answered.aborted) return;
    try {
      const answer = await fetch(`${api}/waiting`, { signal: answered });
      const { meta }: Packed<WaitingAnswer> = unpack(await answer.arrayBuffer());
      if (meta.sentence && !answered.aborted) tell(meta.sentence);
    } catch {
      return; // the question itself reports the failure
    }
  }
}

/** A file that the server makes. */
export async function fetchFile<Name extends FileRoute>(api: string, route: Name, request: Routes[Name]["request"]) {
  const { meta, start, buffer }: Packed<FileAnswer> = await askRoute(api, route, request);
  return new File([new Uint8Array(buffer, start)], meta.name, { type: meta.type });
}

/** Uploads a visitor's file; returns the name with which only this visitor can use it. */
export async function uploadFile(api: string, body: File, type: string) {
  if (body.size > MAX_IMAGE_BYTES) throw new Error(IMAGE_TOO_LARGE);
  const answer = await fetch(`${api}/image`, { method: "POST", headers: { "Content-Type": type }, body });
  const { meta }: Packed<Refusable<ImageAnswer>> = unpack(await answer.arrayBuffer());
  if (meta.error) throw new Error(meta.error);
  return meta.name;
}
