// The sidebar and the page that draws heads are separate components: the sidebar asks for the mask that the page shows.

import { listenTo } from "./dom/dom.js";

/**
 * The mask that an answer was computed with. `allowed`, one cell for each query and key, row by row, is 0 if the query
 * does not see the key; `painted` lists the inverted cells. Without tokens the text is too long to paint.
 * @typedef {{ tokens: string[], allowed: Uint8Array, painted: string }} ShownMask
 */

const [ASK, CHANGED] = ["headlight-mask", "headlight-mask-changed"];

/** The mask that the page shows; null if it shows none. @returns {ShownMask | null} */
export function askMask() {
  /** @type {{ mask: ShownMask | null }} */
  const detail = { mask: null };
  document.dispatchEvent(new CustomEvent(ASK, { detail }));
  return detail.mask;
}

/** @param {() => ShownMask | null} read @returns {() => void} ends it */
export function answerMask(read) {
  const answer = (/** @type {CustomEvent} */ event) => {
    event.detail.mask = read();
  };
  return listenTo(document, { [ASK]: answer });
}

/** Call when the page shows another answer. */
export function tellMaskChanged() {
  document.dispatchEvent(new CustomEvent(CHANGED));
}

/** @param {() => void} listen @returns {() => void} ends it */
export function listenToMask(listen) {
  return listenTo(document, { [CHANGED]: listen });
}
