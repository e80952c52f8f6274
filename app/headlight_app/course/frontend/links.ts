// A link from one screen of the Course to another.

import { createElement } from "../../ui/frontend/dom/dom.ts";
import { encodeInputs } from "./inputs.ts";
import type { ContentsEntry, ScreenLink } from "./types.ts";

/** A link with the title of its screen. A plain click opens the screen on this page; the browser handles all others. */
export function createLink(
  contents: ContentsEntry[],
  { chapter, screen, inputs }: ScreenLink,
  open: (chapter: string, screen: string, inputs: string) => void,
) {
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
