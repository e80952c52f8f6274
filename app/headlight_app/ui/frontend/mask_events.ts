// The sidebar and the page that draws heads are separate components: the sidebar asks for the mask that the page shows.

import { listenTo } from "./dom/dom.ts";

/**
 * The mask that an answer was computed with. `allowed`, one cell for each query and key, row by row, is 0 if the query
 * does not see the key; `painted` lists the inverted cells. Without tokens the text is too long to paint.
 */
export type ShownMask = { tokens: string[]; allowed: Uint8Array; painted: string };

const [ASK, CHANGED] = ["headlight-mask", "headlight-mask-changed"];

/** The mask that the page shows; null if it shows none. */
export function askMask(): ShownMask | null {
  const detail: { mask: ShownMask | null } = { mask: null };
  document.dispatchEvent(new CustomEvent(ASK, { detail }));
  return detail.mask;
}

/** @returns ends it */
export function answerMask(read: () => ShownMask | null): () => void {
  const answer = (event: CustomEvent) => {
    event.detail.mask = read();
  };
  return listenTo(document, { [ASK]: answer });
}

/** Call when the page shows another answer. */
export function tellMaskChanged() {
  document.dispatchEvent(new CustomEvent(CHANGED));
}

/** @returns ends it */
export function listenToMask(listen: () => void): () => void {
  return listenTo(document, { [CHANGED]: listen });
}
