// What happened, for those who hear the page: one line in each component, filled once, after a pause.

import { remembered } from "../state/memory.js";
import { createElement, listenTo } from "./dom.js";

const PAUSE = 600; // milliseconds without news: of several changes the last is said

export class Announcer {
  #line;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {{ textContent: string | null }} line a live region */
  constructor(line) {
    this.#line = line;
  }

  /** Says words after a pause, the same words again too. @param {string} words */
  say(words) {
    clearTimeout(this.#timer);
    this.#line.textContent = "";
    this.#timer = setTimeout(() => {
      this.#line.textContent = words;
    }, PAUSE);
  }
}

const announcerOf = remembered((/** @type {Node} */ root) => new Announcer(createLine(root)));

/** Says what happened in the component of an element. @param {Element} near @param {string} words */
export function announce(near, words) {
  announcerOf(near.getRootNode()).say(words);
}

/** @param {Node} root @returns {HTMLElement} */
function createLine(root) {
  const line = createElement("p", "unseen", [], { role: "status", testid: "announced" });
  const parent = root instanceof Document || root instanceof ShadowRoot ? root.querySelector(".instrument") : null;
  (parent ?? root).appendChild(line);
  return line;
}

const READINGS = "p:is(.reading, .pointed), figcaption.pointed";
const CONTROLS = "input, textarea, select, summary, [role=switch], [role=gridcell], .act, .small";

/**
 * What a plot says of the token that the keys go to is read aloud while the focus is on the plot: while a person types,
 * or chooses, it changes with each answer.
 * @param {HTMLElement} place @returns {() => void} ends it
 */
export function listenToReadings(place) {
  return listenTo(place, {
    focusin: ({ target }) => {
      const points = target instanceof Element && !target.matches(CONTROLS);
      for (const reading of place.querySelectorAll(READINGS)) reading.ariaLive = points ? "polite" : "off";
    },
  });
}
