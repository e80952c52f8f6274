// The screens of the course in the order of the core path: the next one, and the time that the rest takes.

import type { ContentsEntry, ScreenTitle } from "./contract.ts";
import type { Progress } from "./progress.ts";
export type Station = ScreenTitle & { chapter: string; path: string }; // a screen with its chapter and `chapter/screen`

/** All screens. */
function allStations(contents: ContentsEntry[]): Station[] {
  return contents.flatMap(({ name: chapter, screens }) =>
    screens.map((screen) => ({ ...screen, chapter, path: `${chapter}/${screen.name}` })),
  );
}

/** The screens of the core path, in its order. */
export function corePath(contents: ContentsEntry[]) {
  return allStations(contents)
    .filter(({ core }) => core)
    .sort((one, other) => one.core - other.core);
}

/** The screen after another one: along the core path if that one is on it, else in its chapter and the next. */
export function nextStation(contents: ContentsEntry[], path: string): Station | undefined {
  const core = corePath(contents);
  const place = core.findIndex((station) => station.path === path);
  if (place >= 0 && core[place + 1]) return core[place + 1];
  const all = allStations(contents);
  return all[all.findIndex((station) => station.path === path) + 1];
}

/** The progress on the core path: "7 of 20 done, 25 minutes left". */
export function describeProgress(contents: ContentsEntry[], progress: Progress) {
  const core = corePath(contents);
  const open = core.filter(({ path }) => !progress.isDone(path));
  const minutes = open.reduce((sum, { minutes }) => sum + minutes, 0);
  if (!open.length) return `All ${core.length} screens of the core path are done.`;
  return `${core.length - open.length} of ${core.length} done, ${minutes} ${minutes === 1 ? "minute" : "minutes"} left`;
}

/** A room's name for a screen, a chapter, or the start page; a screen of two chapters has one. */
export function placeOf(chapter: string, screen: string, progress: Progress) {
  return ["course", screen ? progress.keptAs(`${chapter}/${screen}`) : chapter].filter(Boolean).join("/");
}
