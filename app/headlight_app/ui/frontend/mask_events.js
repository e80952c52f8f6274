// The page that draws heads and the sidebar are two components: the sidebar asks what mask the answer on the page shows.

import { listenTo } from "./dom/dom.js";

/**
 * The mask that an answer was computed with. `allowed`, a cell for each query and key row by row, is 0 where the query does
 * not see the key; `painted` are the cells that were turned round in it. Without tokens the text is too long to paint.
 * @typedef {{ tokens: string[], allowed: Uint8Array, painted: string }} ShownMask
 */

const [ASK, CHANGED] = ["headlight-mask", "headlight-mask-changed"];

/** What the page shows now; null where none shows a mask. @returns {ShownMask | null} */
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

/** There is another answer on the page. */
export function tellMaskChanged() {
  document.dispatchEvent(new CustomEvent(CHANGED));
}

/** @param {() => void} listen @returns {() => void} ends it */
export function listenToMask(listen) {
  return listenTo(document, { [CHANGED]: listen });
}
