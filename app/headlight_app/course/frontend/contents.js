// The table of contents: all chapters, and the screens of the open chapter.

import { createButton, createElement, updateChildren } from "../../ui/frontend/dom/dom.js";

/** @import { ContentsEntry } from "./contract.js" */
/** @import { Progress } from "./progress.js" */
/** @typedef {(chapter: string, screen: string) => void} Open */

/**
 * @param {HTMLElement} nav @param {ContentsEntry[]} contents @param {string} chapter the open one, "" on the start page
 * @param {string} screen the current one @param {Progress} progress @param {Open} open
 */
export function drawContents(nav, contents, chapter, screen, progress, open) {
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

/** @param {ContentsEntry} entry @param {string} chosen @param {Progress} progress @param {Open} open */
function screenList(entry, chosen, progress, open) {
  return createElement("ul", "", [
    ...entry.screens.map(({ name, title, core }) => {
      const isDone = progress.isDone(`${entry.name}/${name}`);
      const item = createElement("li", `${core ? "core" : ""}${isDone ? " done" : ""}`.trim());
      item.append(link(title, name === chosen, `contents-${name}`, () => open(entry.name, name)));
      return item;
    }),
  ]);
}

/** @param {string} title @param {boolean} isCurrent @param {string} testId @param {() => void} follow */
function link(title, isCurrent, testId, follow) {
  const button = createButton("", title, testId, follow);
  if (isCurrent) button.ariaCurrent = "true";
  return button;
}

/**
 * Buttons for the previous and the next chapter.
 * @param {HTMLElement} footer @param {ContentsEntry[]} contents @param {string} chapter @param {Open} open
 */
export function drawTurns(footer, contents, chapter, open) {
  const place = contents.findIndex(({ name }) => name === chapter);
  const buttons = [-1, 1].flatMap((by) => {
    const entry = contents[place + by];
    const [words, which] = by < 0 ? [`← ${entry?.title}`, "previous"] : [`${entry?.title} →`, "next"];
    return entry ? [createButton("act", words, `${which}-chapter`, () => open(entry.name, ""))] : [];
  });
  updateChildren(footer, ...buttons);
}
