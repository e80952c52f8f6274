// A link from one screen of the Course to another.

import { createElement } from "../../ui/frontend/dom/dom.js";
import { encodeInputs } from "./inputs.js";

/** @import { ContentsEntry, Link, ScreenLink } from "./types.js" */
/** @typedef {(link: ScreenLink) => HTMLAnchorElement} LinkTo */
/**
 * What the pictures of a screen stand in: how wide it is in pixels, and where a part of one may lead, to another screen
 * or to Explore. @typedef {{ width: number, linkTo: LinkTo, explore: Link }} Surroundings
 */

/**
 * The link, named as the screen is; a plain click is followed on the page, any other is the browser's.
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
