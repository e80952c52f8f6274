// The list of scenes in this browser's localStorage; it survives a reload.

import type { PageRow, SceneList } from "../../../room/frontend/scene_list.ts";
import { NO_SCENES, readFile, writeFile } from "../../../room/frontend/scene_list.ts";
import { listenTo } from "../../../ui/frontend/dom/dom.ts";

const KEY = "headlight-scenes";
const PLACE_KEY = "headlight-scene"; // the index of the shown scene
const NOT_KEPT = "This browser does not keep the list. Save it as a file, or it is lost when the page is closed.";

export function loadScenes(pages: PageRow[]): SceneList {
  try {
    const found = readFile(localStorage.getItem(KEY) ?? "", pages);
    const scenes = "scenes" in found ? found.scenes : [];
    const at = Number(localStorage.getItem(PLACE_KEY) ?? -1);
    return { scenes, at: scenes[at] ? at : -1 };
  } catch {
    return NO_SCENES; // empty, or not written by Headlight
  }
}

/** Throws an error sentence if the browser stores nothing. */
export function storeScenes(list: SceneList) {
  try {
    localStorage.setItem(KEY, writeFile(list));
    localStorage.setItem(PLACE_KEY, String(list.at));
  } catch {
    throw new Error(NOT_KEPT);
  }
}

/** Call `follow` when another window of this browser changes the list. @returns ends it */
export function listenToStore(follow: () => void): () => void {
  return listenTo(window, { storage: ({ key }: StorageEvent) => key === KEY && follow() });
}
