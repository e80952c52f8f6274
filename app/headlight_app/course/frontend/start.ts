// The start page of the course: the core path as a map, and below it all chapters with their progress.

import { saveFile } from "../../ui/frontend/dom/clipboard.ts";
import { createButton, createElement } from "../../ui/frontend/dom/dom.ts";
import { createEntries } from "../../ui/frontend/dom/entries.ts";
import type { Open } from "./contents.ts";
import type { ContentsEntry } from "./contract.ts";
import type { Station } from "./path.ts";
import { corePath, describeProgress } from "./path.ts";
import type { Progress } from "./progress.ts";

const FILE = "headlight-course.json";

export function createStart(
  contents: ContentsEntry[],
  entries: Record<string, string>,
  progress: Progress,
  open: Open,
  redraw: () => void,
) {
  const core = corePath(contents);
  const next = core.find(({ path }) => !progress.isDone(path));
  const map = createMap(core, progress, next, open);
  const questions = createEntries(Object.entries(entries), (path) => {
    const [chapter, screen] = path.split("/");
    open(chapter, screen);
  });
  const chapters = [createElement("h2", "", "All chapters"), createChapters(contents, progress, open)];
  return createElement(
    "div",
    "start",
    [createWelcome(contents, progress, next, open, redraw), questions, map, ...chapters],
    { testid: "start" },
  );
}

function createWelcome(
  contents: ContentsEntry[],
  progress: Progress,
  next: Station | undefined,
  open: Open,
  redraw: () => void,
) {
  const core = corePath(contents);
  const done = core.filter(({ path }) => progress.isDone(path)).length;
  const bar = createElement("progress", "", [], { max: core.length, value: done, ariaLabel: "Core path" });
  const told = createElement("p", "told", describeProgress(contents, progress), { testid: "progress" });
  const buttons = createElement("div", "options");
  if (next) {
    const words = `${done ? "Go on" : "Start"}: ${next.title}`;
    buttons.append(createButton("act primary", words, "resume", () => open(next.chapter, next.name)));
  }
  const [chapter, screen] = progress.last.split("/");
  const title = contents.find(({ name }) => name === chapter)?.screens.find(({ name }) => name === screen)?.title;
  if (title && progress.last !== next?.path)
    buttons.append(createButton("act", `Back to: ${title}`, "back-to", () => open(chapter, screen)));
  if (progress.last) buttons.append(createSave(progress), createForget(progress, redraw));
  const load = createLoad(progress, redraw);
  const summary = `${core.length} screens lead from one row of a trained head to a model that writes. Nearly all show a trained model; each asks you a question and lets you change its inputs.`;
  return createElement("div", "welcome panel", [createElement("p", "summary", summary), bar, told, buttons, load]);
}

function createSave(progress: Progress) {
  const save = () => saveFile(FILE, "application/json", progress.text);
  return createButton("plain", "Save it to a file", "save-progress", save);
}

/** A field that loads the progress file of another browser. */
function createLoad(progress: Progress, redraw: () => void) {
  const told = createElement("span", "problem", "", { role: "alert", hidden: true });
  const field = createElement("input", "", [], { type: "file", accept: ".json", testid: "load-progress" });
  field.onchange = async () => {
    if (progress.load((await field.files?.[0]?.text()) ?? "")) return redraw();
    told.textContent = `This file contains no progress in the course. Choose a ${FILE} that was saved on this page.`;
    told.hidden = false;
  };
  return createElement("label", "load", ["Go on from a file ", field, told]);
}

function createForget(progress: Progress, redraw: () => void) {
  return createButton("plain", "Forget what I have done", "forget", () => {
    progress.forget();
    redraw();
  });
}

function createMap(core: Station[], progress: Progress, next: Station | undefined, open: Open) {
  return createElement("ol", "map", [
    ...core.map((station) => {
      const isDone = progress.isDone(station.path);
      const { chapter, name, title, about, minutes } = station;
      const state = isDone ? "done" : station === next ? "next" : "";
      const parts = [
        createElement("span", "stop", isDone ? "✓" : String(station.core)),
        createElement("strong", "", title),
        createElement("span", "about", about),
        createElement("span", "quiet", `${minutes} min${state && `, ${state}`}`),
      ];
      const button = createButton("station", parts, `station-${chapter}-${name}`, () => open(chapter, name));
      return createElement("li", state, [button]);
    }),
  ]);
}

function createChapters(contents: ContentsEntry[], progress: Progress, open: Open) {
  return createElement("ol", "chapter-cards", [
    ...contents.map(({ name, title, summary, screens }, number) => {
      const done = screens.filter((screen) => progress.isDone(`${name}/${screen.name}`)).length;
      const minutes = screens.reduce((sum, screen) => sum + screen.minutes, 0);
      const parts = [
        createElement("strong", "", `${number + 1}. ${title}`),
        createElement("span", "about", summary),
        createElement("span", "quiet", `${done} of ${screens.length} screens done · ${minutes} min`),
      ];
      return createElement("li", "panel", [createButton("chapter-card", parts, "", () => open(name, ""))]);
    }),
  ]);
}
