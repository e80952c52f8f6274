// Announcements for screen readers: one live region in each component, filled after a pause.

import { createElement, listenTo } from "./dom.js";
import { remembered } from "./memory.js";

const PAUSE = 600; // milliseconds without a change; only the last of several changes is announced

export class Announcer {
  #line;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {{ textContent: string | null }} line a live region */
  constructor(line) {
    this.#line = line;
  }

  /** Announces words after a pause, even if they are the same as before. @param {string} words */
  say(words) {
    clearTimeout(this.#timer);
    this.#line.textContent = "";
    this.#timer = setTimeout(() => {
      this.#line.textContent = words;
    }, PAUSE);
  }
}

const announcerOf = remembered((/** @type {Node} */ root) => new Announcer(createLine(root)));

/** Announces words in the component of an element. @param {Element} near @param {string} words */
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
 * Makes the readings of plots live regions only while the focus is on a plot: while the visitor types or chooses, here or
 * elsewhere, they change with each answer and would be read aloud each time.
 * @param {HTMLElement} place @returns {() => void} ends it
 */
export function listenToReadings(place) {
  const setLive = (/** @type {boolean} */ points) => {
    for (const reading of place.querySelectorAll(READINGS)) reading.ariaLive = points ? "polite" : "off";
  };
  return listenTo(place, {
    focusin: ({ target }) => setLive(target instanceof Element && !target.matches(CONTROLS)),
    focusout: (/** @type {FocusEvent} */ { relatedTarget }) => {
      if (!(relatedTarget instanceof Node && place.contains(relatedTarget))) setLive(false);
    },
  });
}
