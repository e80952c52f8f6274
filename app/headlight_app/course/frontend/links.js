// A link from one screen of the Course to another.

import { createElement } from "../../ui/frontend/dom/dom.js";
import { encodeInputs } from "./inputs.js";

/** @import { ContentsEntry, ScreenLink } from "./types.js" */

/**
 * A link with the title of its screen. A plain click opens the screen on this page; the browser handles all others.
 * @param {ContentsEntry[]} contents @param {ScreenLink} link
 * @param {(chapter: string, screen: string, inputs: string) => void} open
 */
export function createLink(contents, { chapter, screen, inputs }, open) {
  const title = contents.find(({ name }) => name === chapter)?.screens.find(({ name }) => name === screen)?.title;
  const link = createElement("a", "screen-link", title ?? screen);
  const encoded = encodeInputs(new Map([[screen, inputs]]));
  link.href = `?${new URLSearchParams({ chapter, screen, ...(encoded && { course_inputs: encoded }) })}`;
  link.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(chapter, screen, encoded);
  };
  return link;
}
