// The list of scenes as this browser keeps it: it outlives a reload, and stays in this browser.

import { listenTo } from "../../../ui/frontend/dom/dom.js";
import { NO_SCENES, readFile, writeFile } from "./scene_list.js";

/** @import { PageRow, SceneList } from "./scene_list.js" */

const KEY = "headlight-scenes";
const PLACE_KEY = "headlight-scene"; // of the one on the screen
const NOT_KEPT = "This browser does not keep the list. Save it as a file, or it is lost when the page is closed.";

/** @param {PageRow[]} pages @returns {SceneList} */
export function loadScenes(pages) {
  try {
    const found = readFile(localStorage.getItem(KEY) ?? "", pages);
    const scenes = "scenes" in found ? found.scenes : [];
    const at = Number(localStorage.getItem(PLACE_KEY) ?? -1);
    return { scenes, at: scenes[at] ? at : -1 };
  } catch {
    return NO_SCENES; // none yet, or written by something else
  }
}

/** Raises a sentence where the browser keeps nothing. @param {SceneList} list */
export function storeScenes(list) {
  try {
    localStorage.setItem(KEY, writeFile(list));
    localStorage.setItem(PLACE_KEY, String(list.at));
  } catch {
    throw new Error(NOT_KEPT);
  }
}

/** Another window of this browser has changed the list. @param {() => void} follow @returns {() => void} ends it */
export function listenToStore(follow) {
  return listenTo(window, { storage: (/** @type {StorageEvent} */ { key }) => key === KEY && follow() });
}
