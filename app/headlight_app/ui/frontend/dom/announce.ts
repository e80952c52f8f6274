// Announcements for screen readers: one live region in each component, filled after a pause.

import { createElement, listenTo } from "./dom.ts";
import { remembered } from "./memory.ts";

const PAUSE = 600; // milliseconds without a change; only the last of several changes is announced

export class Announcer {
  #line;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param line a live region */
  constructor(line: { textContent: string | null }) {
    this.#line = line;
  }

  /** Announces words after a pause, even if they are the same as before. */
  say(words: string) {
    clearTimeout(this.#timer);
    this.#line.textContent = "";
    this.#timer = setTimeout(() => {
      this.#line.textContent = words;
    }, PAUSE);
  }
}

const announcerOf = remembered((root: Node) => new Announcer(createLine(root)));

/** Announces words in the component of an element. */
export function announce(near: Element, words: string) {
  announcerOf(near.getRootNode()).say(words);
}

function createLine(root: Node): HTMLElement {
  const line = createElement("p", "unseen", [], { role: "status", testid: "announced" });
  const parent = root instanceof Document || root instanceof ShadowRoot ? root.querySelector(".instrument") : null;
  (parent ?? root).appendChild(line);
  return line;
}

const READINGS = "p:is(.reading, .pointed), figcaption.pointed";
const CONTROLS = "input, textarea, select, summary, [role=switch], [role=gridcell], .act, .small";

/**
 * Makes the readings of plots live regions only while the focus is on a plot: while the visitor types or chooses, here
 * or elsewhere, they change with each answer and would be read aloud each time.
 * @returns ends it
 */
export function listenToReadings(place: HTMLElement): () => void {
  const setLive = (points: boolean) => {
    for (const reading of place.querySelectorAll(READINGS)) reading.ariaLive = points ? "polite" : "off";
  };
  return listenTo(place, {
    focusin: ({ target }) => setLive(target instanceof Element && !target.matches(CONTROLS)),
    focusout: ({ relatedTarget }: FocusEvent) => {
      if (!(relatedTarget instanceof Node && place.contains(relatedTarget))) setLive(false);
    },
  });
}
