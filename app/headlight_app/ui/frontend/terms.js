// Terms explained next to their use: one line, with a link to the screen of the course that explains more.

import { createElement } from "./dom/dom.js";

/** @typedef {{ sentence: string, chapter: string, screen: string }} Term */

/**
 * A line that explains some terms. Each sentence links to the course and keeps all choices.
 * @param {Term[]} terms @param {() => void} [beforeLeaving] @param {string} [token] for the place {token} in a sentence
 */
export function createTermLine(terms, beforeLeaving = () => {}, token = "") {
  return createElement("p", "term", [...terms.flatMap((term) => [createTerm(term, beforeLeaving, token), " "])]);
}

/** @param {Term} term @param {() => void} beforeLeaving @param {string} token */
function createTerm({ sentence, chapter, screen }, beforeLeaving, token) {
  const link = createElement("a");
  const [before, after] = sentence.split("{token}");
  link.append(before, ...(after === undefined ? [] : [createElement("bdi", "token", token), after]));
  link.title = "How it works: a screen of the course";
  link.href = courseAddress(location.search, chapter, screen);
  link.onclick = () => {
    beforeLeaving();
    link.href = courseAddress(location.search, chapter, screen);
  };
  return link;
}

/** @param {string} search of the address @param {string} chapter @param {string} screen */
function courseAddress(search, chapter, screen) {
  const query = new URLSearchParams(search);
  query.set("chapter", chapter);
  query.set("screen", screen);
  return `course?${query}`;
}
