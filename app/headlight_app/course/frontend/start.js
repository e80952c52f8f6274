// The start page of the course: the core path as a map, and below it all chapters with what is done.

import { createElement } from "../../ui/frontend/dom/dom.js";
import { corePath, describeProgress } from "./path.js";

/** @import { ContentsEntry } from "./contract.js" */
/** @import { Open } from "./contents.js" */
/** @import { Station } from "./path.js" */
/** @import { Progress } from "./progress.js" */

/** @param {ContentsEntry[]} contents @param {Progress} progress @param {Open} open @param {() => void} redraw */
export function createStart(contents, progress, open, redraw) {
  const element = createElement("div", "start", [], { testid: "start" });
  const core = corePath(contents);
  const next = core.find(({ path }) => !progress.isDone(path));
  element.append(createWelcome(contents, progress, next, open, redraw), createMap(core, progress, next, open));
  element.append(createElement("h2", "", "All chapters"), createChapters(contents, progress, open));
  return element;
}

/**
 * @param {ContentsEntry[]} contents @param {Progress} progress @param {Station | undefined} next
 * @param {Open} open @param {() => void} redraw
 */
function createWelcome(contents, progress, next, open, redraw) {
  const element = createElement("div", "welcome panel");
  const core = corePath(contents);
  const done = core.filter(({ path }) => progress.isDone(path)).length;
  const bar = createElement("progress", "", [], { max: core.length, value: done, ariaLabel: "Core path" });
  const told = createElement("p", "told", describeProgress(contents, progress), { testid: "progress" });
  const buttons = createElement("div", "options");
  if (next) {
    const button = createElement("button", "act primary", `${done ? "Go on" : "Start"}: ${next.title}`);
    button.dataset.testid = "resume";
    button.onclick = () => open(next.chapter, next.name);
    buttons.append(button);
  }
  const [chapter, screen] = progress.last.split("/");
  const title = contents.find(({ name }) => name === chapter)?.screens.find(({ name }) => name === screen)?.title;
  if (title && progress.last !== next?.path) {
    const back = createElement("button", "act", `Back to: ${title}`);
    back.dataset.testid = "back-to";
    back.onclick = () => open(chapter, screen);
    buttons.append(back);
  }
  if (progress.last) buttons.append(createForget(progress, redraw));
  element.append(
    createElement(
      "p",
      "summary",
      `${core.length} screens lead from a first look at attention to a model that writes. Each asks you a question, lets you change the numbers, and runs on the code of the real models.`,
    ),
    bar,
    told,
    buttons,
  );
  return element;
}

/** @param {Progress} progress @param {() => void} redraw */
function createForget(progress, redraw) {
  const button = createElement("button", "plain", "Forget what I have done");
  button.dataset.testid = "forget";
  button.onclick = () => {
    progress.forget();
    redraw();
  };
  return button;
}

/** @param {Station[]} core @param {Progress} progress @param {Station | undefined} next @param {Open} open */
function createMap(core, progress, next, open) {
  return createElement("ol", "map", [
    ...core.map((station) => {
      const isDone = progress.isDone(station.path);
      const item = createElement("li", isDone ? "done" : station === next ? "next" : "");
      const button = createElement("button", "station");
      button.dataset.testid = `station-${station.chapter}-${station.name}`;
      button.onclick = () => open(station.chapter, station.name);
      const sign = createElement("span", "stop", isDone ? "✓" : String(station.core));
      const title = createElement("strong", "", station.title);
      const minutes = createElement("span", "quiet", `${station.minutes} min`);
      if (isDone) minutes.textContent += ", done";
      else if (station === next) minutes.textContent += ", next";
      button.append(sign, title, createElement("span", "about", station.about), minutes);
      item.append(button);
      return item;
    }),
  ]);
}

/** @param {ContentsEntry[]} contents @param {Progress} progress @param {Open} open */
function createChapters(contents, progress, open) {
  return createElement("ol", "chapter-cards", [
    ...contents.map(({ name, title, summary, screens }, number) => {
      const button = createElement("button", "chapter-card", [], { onclick: () => open(name, "") });
      const done = screens.filter((screen) => progress.isDone(`${name}/${screen.name}`)).length;
      const minutes = screens.reduce((sum, screen) => sum + screen.minutes, 0);
      button.append(
        createElement("strong", "", `${number + 1}. ${title}`),
        createElement("span", "about", summary),
        createElement("span", "quiet", `${done} of ${screens.length} screens done · ${minutes} min`),
      );
      return createElement("li", "panel", [button]);
    }),
  ]);
}
