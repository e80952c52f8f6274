// Terms explained next to their use: one line, with a link to the screen of the course that explains more.

import { createElement } from "./dom/dom.ts";

/** Without a chapter there is no screen of the course that explains more. */
export type Term = { sentence: string; chapter: string; screen: string };

/**
 * A line that explains some terms. Each sentence links to the course and keeps all choices.
 * @param token for the place {token} in a sentence
 */
export function createTermLine(terms: Term[], beforeLeaving: () => void = () => {}, token: string = "") {
  return createElement("p", "term", [...terms.flatMap((term) => [createTerm(term, beforeLeaving, token), " "])]);
}

function createTerm({ sentence, chapter, screen }: Term, beforeLeaving: () => void, token: string) {
  const link = createElement(chapter ? "a" : "span");
  const [before, after] = sentence.split("{token}");
  link.append(before, ...(after === undefined ? [] : [createElement("bdi", "token", token), after]));
  if (!(link instanceof HTMLAnchorElement)) return link;
  link.title = "How it works: a screen of the course";
  link.href = courseAddress(location.search, chapter, screen);
  link.onclick = () => {
    beforeLeaving();
    link.href = courseAddress(location.search, chapter, screen);
  };
  return link;
}

/** @param search of the address */
function courseAddress(search: string, chapter: string, screen: string) {
  const query = new URLSearchParams(search);
  query.set("chapter", chapter);
  query.set("screen", screen);
  return `course?${query}`;
}
