// A list of scenes: each is a name, a page, and the query with all choices on it.

/** @typedef {{ name: string, page: string, query: string }} Scene `query` without "?", and without presenter mode */
/** @typedef {{ name: string, title: string, path: string }} PageRow */
/** @typedef {{ scenes: Scene[], at: number }} SceneList `at` is the index of the shown scene; -1: none yet */

export const FORMAT = "headlight_scenes";
export const STATE_FORMAT = "headlight";
export const MAX_SCENES = 100;
export const MAX_QUERY = 20_000; // characters of a query
export const MAX_FILE = 4 << 20; // bytes
const MAX_NAME = 120;
const SHORT_TEXT = 48; // characters of a text in a name
const NOT_OF_A_SCENE = ["presenter", "embedded"]; // belong to the window, not to the scene

/** @type {SceneList} */
export const NO_SCENES = { scenes: [], at: -1 };

/** @param {SceneList} list @param {Scene[]} scenes appended; known ones are skipped @returns {SceneList} */
export function addScenes(list, scenes) {
  const known = new Set(list.scenes.map(keyOf));
  const fresh = scenes.filter((scene) => !known.has(keyOf(scene)) && known.add(keyOf(scene)));
  if (list.scenes.length + fresh.length > MAX_SCENES)
    throw new Error(`A list holds at most ${MAX_SCENES} scenes. Save this one as a file, and remove some.`);
  return { ...list, scenes: [...list.scenes, ...fresh] };
}

/** @param {SceneList} list @param {number} place @returns {SceneList} */
export function removeScene({ scenes, at }, place) {
  const left = scenes.filter((_, other) => other !== place);
  return { scenes: left, at: at === place ? -1 : at > place ? at - 1 : at };
}

/** @param {SceneList} list @param {number} place @param {number} step @returns {SceneList} */
export function moveScene({ scenes, at }, place, step) {
  const target = place + step;
  if (!scenes[place] || !scenes[target]) return { scenes, at };
  const moved = [...scenes];
  [moved[place], moved[target]] = [moved[target], moved[place]];
  return { scenes: moved, at: at === place ? target : at === target ? place : at };
}

/** @param {SceneList} list @param {number} place @param {string} name @returns {SceneList} */
export function renameScene({ scenes, at }, place, name) {
  return { scenes: scenes.map((scene, other) => (other === place ? { ...scene, name: tidyName(name) } : scene)), at };
}

/** The index of the scene before or after the shown one; null beyond either end. @param {SceneList} list @param {number} step */
export function neighbour({ scenes, at }, step) {
  const place = at < 0 ? (step > 0 ? 0 : -1) : at + step;
  return scenes[place] ? place : null;
}

/**
 * The scene of a URL.
 * @param {URL | Location} address @param {PageRow[]} pages @param {string} [name] @returns {Scene | null} null: not a page of Headlight
 */
export function sceneAt({ pathname, search }, pages, name = "") {
  const last = (/** @type {string} */ path) => path.replace(/\/+$/, "").split("/").at(-1) ?? "";
  const page = pages.find(({ path }) => path === pathname) ?? pages.find((one) => last(one.path) === last(pathname));
  if (!page) return null;
  const query = new URLSearchParams(search);
  for (const field of NOT_OF_A_SCENE) query.delete(field);
  return checkedScene({ name: name.trim() || defaultName(page, query), page: page.name, query: query.toString() });
}

/**
 * The URL path and query of a scene on this server.
 * @param {Scene} scene @param {PageRow[]} pages @param {boolean} presenter
 */
export function sceneAddress({ page, query }, pages, presenter) {
  const { path } = pages.find(({ name }) => name === page) ?? pages[0];
  const search = new URLSearchParams(query);
  if (presenter) search.set("presenter", "1");
  return search.size ? `${path}?${search}` : path;
}

/**
 * The scenes of a file, or the state of one view. Throws an error sentence for anything else.
 * @param {string} text @param {PageRow[]} pages
 * @returns {{ scenes: Scene[] } | { state: Record<string, unknown>, page: string }}
 */
export function readFile(text, pages) {
  const read = parsed(text);
  const known = (/** @type {unknown} */ page) => pages.some(({ name }) => name === page);
  if (read?.[STATE_FORMAT] && isRecord(read.state))
    return { state: read.state, page: known(read.page) ? String(read.page) : pages[0].name };
  if (!read?.[FORMAT] || !Array.isArray(read.scenes))
    throw new Error("This file contains neither scenes nor a state of Headlight. Your list is unchanged.");
  const scenes = read.scenes.filter((one) => isRecord(one) && known(one.page) && typeof one.query === "string");
  if (!scenes.length) throw new Error("This list has no scene that this page can show. Your list is unchanged.");
  return {
    scenes: scenes.map(({ name, page, query }) => checkedScene({ name: tidyName(String(name ?? "")), page, query })),
  };
}

/** The text of a file with the list. @param {SceneList} list */
export function writeFile({ scenes }) {
  return JSON.stringify({ [FORMAT]: 1, scenes }, null, 1);
}

/** Throws an error sentence for a scene that is too long. @param {Scene} scene @returns {Scene} */
export function checkedScene(scene) {
  const length = new Intl.NumberFormat("en").format(MAX_QUERY);
  if (scene.query.length > MAX_QUERY)
    throw new Error(
      `“${scene.name}” is too long: a scene holds about ${length} characters. Save its state as a file instead.`,
    );
  return { ...scene, name: tidyName(scene.name) };
}

/** @param {PageRow} page @param {URLSearchParams} query */
export function defaultName({ title }, query) {
  const text = (query.get("text") ?? query.get("source") ?? "").replace(/\s+/g, " ").trim();
  const letters = [...text];
  return [title, letters.length > SHORT_TEXT ? `${letters.slice(0, SHORT_TEXT).join("").trimEnd()}…` : text]
    .filter(Boolean)
    .join(": ");
}

/** @param {string} name */
function tidyName(name) {
  return [...name.replace(/\s+/g, " ").trim()].slice(0, MAX_NAME).join("") || "A scene";
}

/** @param {Scene} scene */
function keyOf({ name, page, query }) {
  return JSON.stringify([name, page, query]);
}

/** @param {string} text @returns {Record<string, unknown> | null} */
function parsed(text) {
  try {
    const read = JSON.parse(text);
    return isRecord(read) ? read : null;
  } catch {
    return null;
  }
}

/** @param {unknown} value @returns {value is Record<string, any>} */
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
