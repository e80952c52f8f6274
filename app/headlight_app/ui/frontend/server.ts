// Requests of components, without Streamlit: one packed answer for each question, from the server or from the browser.

import { IMAGE_TOO_LARGE, MAX_IMAGE_BYTES } from "./contract.ts";
import type { FileAnswer, FileRoute, ImageAnswer, Refusable, Routes, WaitingAnswer } from "./types.ts";
import type { Packed } from "./wire.ts";
import { unpack } from "./wire.ts";

const FIRST_PAUSE = 500; // milliseconds until a lost question is repeated
const LONGEST_PAUSE = 8000;
const LONG_WAIT = 1000; // milliseconds until the server is first asked why a question waits
const LOOK_AGAIN = 2000; // milliseconds until it is asked again

/** Answers questions by their routes, in the format of `wire.ts`. */
export interface Backend {
  /** Whether it answers a route; a page leaves out what needs another one. */
  answers(route: string): boolean;
  /** Whether an edit can take a value from the run of another text. */
  readonly patches: boolean;
  /** Throws an error with a sentence if it cannot answer. @param unanswered hears of a network that fails */
  post(route: string, body: unknown, signal?: AbortSignal, unanswered?: Unanswered): Promise<ArrayBuffer>;
}

/** The address of the server's routes, or what answers in place of a server. */
export type Api = string | Backend;

/** The server at an address. */
class HttpBackend implements Backend {
  patches = true;

  #address;

  constructor(address: string) {
    this.#address = address;
  }

  answers() {
    return true;
  }

  /** If `unanswered` is given, repeats the question while the network fails. */
  async post(route: string, body: unknown, signal?: AbortSignal, unanswered?: Unanswered) {
    const ask = () =>
      fetch(`${this.#address}/${route}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
        signal,
      });
    const answer = await (unanswered ? askUntilAnswered(ask, unanswered) : ask());
    if (!(answer.headers.get("Content-Type") || "").includes("octet-stream")) {
      throw new Error("The server gave no answer that this page can read. Reload the page.");
    }
    return answer.arrayBuffer();
  }
}

export function backendOf(api: Api): Backend {
  return typeof api === "string" ? new HttpBackend(api) : api;
}

/** A part of a page's HTML, and the routes that it needs. */
export type Needs = readonly [selector: string, routes: readonly (keyof Routes)[]];

/** Leaves out the parts of a page that need a route without an answer. */
export function hideUnanswered(place: ParentNode, backend: Pick<Backend, "answers">, parts: readonly Needs[]) {
  for (const [selector, routes] of parts)
    place.querySelector(selector)?.toggleAttribute("data-absent", !routes.every((route) => backend.answers(route)));
}

/** @template Meta the JSON part of the route's answer @param unanswered hears of a network that fails */
export async function post<Meta = Record<string, unknown>>(
  api: Api,
  route: string,
  body: unknown,
  signal?: AbortSignal,
  unanswered?: Unanswered,
): Promise<Packed<Meta>> {
  return unpack(await backendOf(api).post(route, body, signal, unanswered));
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
  api: Api,
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
export async function tellWaiting(api: Api, answered: AbortSignal, tell: (sentence: string) => void) {
  if (typeof api !== "string") return; // nobody else asks
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
export async function fetchFile<Name extends FileRoute>(api: Api, route: Name, request: Routes[Name]["request"]) {
  const { meta, start, buffer }: Packed<FileAnswer> = await askRoute(api, route, request);
  return new File([new Uint8Array(buffer, start)], meta.name, { type: meta.type });
}

/** Uploads a visitor's file; returns the name with which only this visitor can use it. */
export async function uploadFile(api: Api, body: File, type: string) {
  if (typeof api !== "string") throw new Error("This page reads no files of yours.");
  if (body.size > MAX_IMAGE_BYTES) throw new Error(IMAGE_TOO_LARGE);
  const answer = await fetch(`${api}/image`, { method: "POST", headers: { "Content-Type": type }, body });
  const { meta }: Packed<Refusable<ImageAnswer>> = unpack(await answer.arrayBuffer());
  if (meta.error) throw new Error(meta.error);
  return meta.name;
}
