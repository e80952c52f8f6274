// The table of contents: all chapters, and the screens of the open chapter.

import { createButton, createElement, updateChildren } from "../../ui/frontend/dom/dom.ts";
import type { ContentsEntry } from "./contract.ts";
import type { Progress } from "./progress.ts";

export type Open = (chapter: string, screen: string) => void;

/** @param chapter the open one, "" on the start page @param screen the current one */
export function drawContents(
  nav: HTMLElement,
  contents: ContentsEntry[],
  chapter: string,
  screen: string,
  progress: Progress,
  open: Open,
) {
  const start = createElement("li", "", [link("Map of the course", !chapter, "map", () => open("", ""))]);
  const list = createElement("ol", "chapters", [
    start,
    ...contents.map((entry) => {
      const item = createElement("li", "", [
        link(entry.title, entry.name === chapter && !screen, `chapter-${entry.name}`, () => open(entry.name, "")),
      ]);
      if (entry.name === chapter) item.append(screenList(entry, screen, progress, open));
      return item;
    }),
  ]);
  updateChildren(nav, list);
}

function screenList(entry: ContentsEntry, chosen: string, progress: Progress, open: Open) {
  return createElement("ul", "", [
    ...entry.screens.map(({ name, title, core }) => {
      const isDone = progress.isDone(`${entry.name}/${name}`);
      const item = createElement("li", `${core ? "core" : ""}${isDone ? " done" : ""}`.trim());
      item.append(link(title, name === chosen, `contents-${name}`, () => open(entry.name, name)));
      return item;
    }),
  ]);
}

function link(title: string, isCurrent: boolean, testId: string, follow: () => void) {
  const button = createButton("", title, testId, follow);
  if (isCurrent) button.ariaCurrent = "true";
  return button;
}

/** Buttons for the previous and the next chapter. */
export function drawTurns(footer: HTMLElement, contents: ContentsEntry[], chapter: string, open: Open) {
  const place = contents.findIndex(({ name }) => name === chapter);
  const buttons = [-1, 1].flatMap((by) => {
    const entry = contents[place + by];
    const [words, which] = by < 0 ? [`← ${entry?.title}`, "previous"] : [`${entry?.title} →`, "next"];
    return entry ? [createButton("act", words, `${which}-chapter`, () => open(entry.name, ""))] : [];
  });
  updateChildren(footer, ...buttons);
}
