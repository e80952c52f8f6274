// A list of scenes: each is a name, a page, and the query with all choices on it.

import { formatCount } from "../../ui/frontend/dom/numbers.ts";
import { STATE_FORMAT } from "../../ui/frontend/export/share.ts";
import { MAX_QUERY } from "./contract.ts";
export type Scene = { name: string; page: string; query: string }; // `query` without "?", and without presenter mode
export type PageRow = { name: string; title: string; path: string };
export type SceneList = { scenes: Scene[]; at: number }; // `at` is the index of the shown scene; -1: none yet

const FORMAT = "headlight_scenes";
export const MAX_SCENES = 100;
const MAX_NAME = 120;
const SHORT_TEXT = 48; // characters of a text in a name
const NOT_OF_A_SCENE = ["presenter", "embedded", "notes", "lesson_work"]; // belong to the window, a teacher or a student

export const SCENES_EVENT = "headlight-scenes-wanted"; // opens the sheet with the list

export const NO_SCENES: SceneList = { scenes: [], at: -1 };

/** @param scenes appended; known ones are skipped */
export function addScenes(list: SceneList, scenes: Scene[]): SceneList {
  const known = new Set(list.scenes.map(keyOf));
  const fresh = scenes.filter((scene) => !known.has(keyOf(scene)) && known.add(keyOf(scene)));
  if (list.scenes.length + fresh.length > MAX_SCENES)
    throw new Error(`A list holds at most ${MAX_SCENES} scenes. Save this one as a file, and remove some.`);
  return { ...list, scenes: [...list.scenes, ...fresh] };
}

export function removeScene({ scenes, at }: SceneList, place: number): SceneList {
  const left = scenes.filter((_, other) => other !== place);
  return { scenes: left, at: at === place ? -1 : at > place ? at - 1 : at };
}

export function moveScene({ scenes, at }: SceneList, place: number, step: number): SceneList {
  const target = place + step;
  if (!scenes[place] || !scenes[target]) return { scenes, at };
  const moved = [...scenes];
  [moved[place], moved[target]] = [moved[target], moved[place]];
  return { scenes: moved, at: at === place ? target : at === target ? place : at };
}

export function renameScene({ scenes, at }: SceneList, place: number, name: string): SceneList {
  return { scenes: scenes.map((scene, other) => (other === place ? { ...scene, name: tidyName(name) } : scene)), at };
}

/** The index of the scene before or after the shown one; null beyond either end. */
export function neighbour({ scenes, at }: SceneList, step: number) {
  const place = at < 0 ? (step > 0 ? 0 : -1) : at + step;
  return scenes[place] ? place : null;
}

/** The scene of a URL. @returns null: not a page of Headlight */
export function sceneAt({ pathname, search }: URL | Location, pages: PageRow[], name: string = ""): Scene | null {
  const last = (path: string) => path.replace(/\/+$/, "").split("/").at(-1) ?? "";
  const page = pages.find(({ path }) => path === pathname) ?? pages.find((one) => last(one.path) === last(pathname));
  if (!page) return null;
  const query = new URLSearchParams(search);
  for (const field of NOT_OF_A_SCENE) query.delete(field);
  return checkedScene({ name: name.trim() || defaultName(page, query), page: page.name, query: query.toString() });
}

/** The URL path and query of a scene on this server. */
export function sceneAddress({ page, query }: Scene, pages: PageRow[], presenter: boolean) {
  const { path } = pages.find(({ name }) => name === page) ?? pages[0];
  const search = new URLSearchParams(query);
  if (presenter) search.set("presenter", "1");
  return search.size ? `${path}?${search}` : path;
}

/** Go to an address of this server like Back and Forward do: Streamlit reads the URL. */
export function goTo(address: string) {
  history.pushState(history.state, "", address);
  window.dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
}

/** The scenes of a file, or the state of one view. Throws an error sentence for anything else. */
export function readFile(
  text: string,
  pages: PageRow[],
): { scenes: Scene[] } | { state: Record<string, unknown>; page: string } {
  const read = parsed(text);
  const known = (page: unknown): page is string => pages.some(({ name }) => name === page);
  if (read?.[STATE_FORMAT] && isRecord(read.state))
    return { state: read.state, page: known(read.page) ? String(read.page) : pages[0].name };
  if (!read?.[FORMAT] || !Array.isArray(read.scenes))
    throw new Error("This file contains neither scenes nor a state of Headlight. Your list is unchanged.");
  const scenes = read.scenes.filter(isRecord).flatMap(({ name, page, query }) => {
    const isScene = known(page) && typeof query === "string";
    return isScene ? [{ name: tidyName(String(name ?? "")), page, query }] : [];
  });
  if (!scenes.length) throw new Error("This list has no scene that this page can show. Your list is unchanged.");
  return { scenes: scenes.map(checkedScene) };
}

/** The text of a file with the list. */
export function writeFile({ scenes }: SceneList) {
  return JSON.stringify({ [FORMAT]: 1, scenes }, null, 1);
}

/** Throws an error sentence for a scene that is too long. */
export function checkedScene(scene: Scene): Scene {
  const length = formatCount(MAX_QUERY);
  if (scene.query.length > MAX_QUERY)
    throw new Error(
      `“${scene.name}” is too long: a scene holds about ${length} characters. Save its state as a file instead.`,
    );
  return { ...scene, name: tidyName(scene.name) };
}

export function defaultName({ title }: PageRow, query: URLSearchParams) {
  const text = (query.get("text") ?? query.get("source") ?? "").replace(/\s+/g, " ").trim();
  const letters = [...text];
  return [title, letters.length > SHORT_TEXT ? `${letters.slice(0, SHORT_TEXT).join("").trimEnd()}…` : text]
    .filter(Boolean)
    .join(": ");
}

function tidyName(name: string) {
  return [...name.replace(/\s+/g, " ").trim()].slice(0, MAX_NAME).join("") || "A scene";
}

function keyOf({ name, page, query }: Scene) {
  return JSON.stringify([name, page, query]);
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const read = JSON.parse(text);
    return isRecord(read) ? read : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
