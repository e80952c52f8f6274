// The list of scenes: additions from files and links, and the user's changes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_QUERY } from "../../../app/headlight_app/room/frontend/contract.ts";
import {
  addScenes,
  MAX_SCENES,
  moveScene,
  NO_SCENES,
  neighbour,
  readFile,
  removeScene,
  renameScene,
  sceneAddress,
  sceneAt,
  writeFile,
} from "../../../app/headlight_app/room/frontend/scene_list.ts";

const PAGES = [
  { name: "explore", title: "Explore", path: "/class/" },
  { name: "compare", title: "Compare", path: "/class/compare" },
];

/** @param {...string} names */
function listOf(...names) {
  return addScenes(
    NO_SCENES,
    names.map((name) => ({ name, page: "explore", query: `text=${name}` })),
  );
}

/** @param {{ scenes: { name: string }[] }} list */
const namesOf = ({ scenes }) => scenes.map(({ name }) => name).join("");

test("a scene is a name, a page and a query, without presenter mode and the work of a student", () => {
  const scene = sceneAt(new URL("http://host/class/compare?text=The+cat&presenter=1&layer=2"), PAGES);
  assert.deepEqual(scene, { name: "Compare: The cat", page: "compare", query: "text=The+cat&layer=2" });
  assert.ok(scene);
  assert.equal(sceneAddress(scene, PAGES, false), "/class/compare?text=The+cat&layer=2");
  assert.equal(sceneAddress(scene, PAGES, true), "/class/compare?text=The+cat&layer=2&presenter=1");
  assert.equal(sceneAt(new URL("http://room:8501/compare?layer=1"), PAGES, " Two sides ")?.name, "Two sides");
  assert.equal(sceneAt(new URL("http://room:8501/elsewhere"), PAGES), null);
  assert.equal(sceneAt(new URL("http://host/class/"), PAGES)?.page, "explore");
  assert.equal(sceneAt(new URL("http://host/class/?text=a&notes=1&lesson_work=%7B%7D"), PAGES)?.query, "text=a");
});

test("scenes are moved, renamed and removed, and the shown one stays the same", () => {
  const list = { ...listOf("a", "b", "c"), at: 1 };
  assert.deepEqual([namesOf(moveScene(list, 1, -1)), moveScene(list, 1, -1).at], ["bac", 0]);
  assert.deepEqual([namesOf(moveScene(list, 0, 1)), moveScene(list, 0, 1).at], ["bac", 0]);
  assert.equal(namesOf(moveScene(list, 2, 1)), "abc");
  assert.deepEqual([namesOf(removeScene(list, 0)), removeScene(list, 0).at], ["bc", 0]);
  assert.deepEqual([namesOf(removeScene(list, 1)), removeScene(list, 1).at], ["ac", -1]);
  assert.equal(renameScene(list, 0, "  A   cat ").scenes[0].name, "A cat");
  assert.equal(renameScene(list, 0, " ").scenes[0].name, "A scene");
});

test("the arrows go from scene to scene, and stop at both ends", () => {
  const list = listOf("a", "b");
  assert.deepEqual([neighbour(list, 1), neighbour(list, -1)], [0, null]);
  assert.deepEqual([neighbour({ ...list, at: 0 }, 1), neighbour({ ...list, at: 0 }, -1)], [1, null]);
  assert.deepEqual([neighbour({ ...list, at: 1 }, 1), neighbour({ ...list, at: 1 }, -1)], [null, 0]);
});

test("a list is restored from its file, without duplicates", () => {
  const list = listOf("a", "b");
  const found = readFile(writeFile(list), PAGES);
  assert.ok("scenes" in found);
  assert.deepEqual(found.scenes, list.scenes);
  assert.equal(namesOf(addScenes(list, [...found.scenes, { name: "c", page: "compare", query: "" }])), "abc");
});

test("a state file is a scene too, of the page that it names", () => {
  const read = (/** @type {object} */ file) => readFile(JSON.stringify(file), PAGES);
  assert.deepEqual(read({ headlight: 1, state: { layer: 2 } }), { state: { layer: 2 }, page: "explore" });
  assert.deepEqual(read({ headlight: 1, page: "compare", state: {} }), { state: {}, page: "compare" });
});

test("an invalid file ends in an error sentence", () => {
  for (const text of ["", "no JSON", "[1]", "null", '{"headlight_scenes": 1}', '{"headlight": 1, "state": 7}'])
    assert.throws(() => readFile(text, PAGES), /contains neither scenes nor a state/, text);
  const foreign = JSON.stringify({ headlight_scenes: 1, scenes: [{ name: "x", page: "weather", query: "" }, 3] });
  assert.throws(() => readFile(foreign, PAGES), /no scene that this page can show/);
  const long = JSON.stringify({
    headlight_scenes: 1,
    scenes: [{ name: "x", page: "explore", query: "t".repeat(MAX_QUERY + 1) }],
  });
  assert.throws(() => readFile(long, PAGES), /“x” is too long/);
  const many = Array.from({ length: MAX_SCENES + 1 }, (_, place) => String(place));
  assert.throws(() => listOf(...many), /at most 100 scenes/);
});
