// Parts of a page that need routes without an answer are left out of it. A server answers all routes.

import type { Backend } from "./server.ts";
import type { Routes } from "./types.ts";

/** A part of the HTML, and the routes that it needs. */
export type Needs = readonly [selector: string, routes: readonly (keyof Routes)[]];

/** Leaves out the parts that need a route without an answer. */
export function hideUnanswered(place: ParentNode, backend: Pick<Backend, "answers">, parts: readonly Needs[]) {
  for (const [selector, routes] of parts)
    place.querySelector(selector)?.toggleAttribute("data-absent", !routes.every((route) => backend.answers(route)));
}
