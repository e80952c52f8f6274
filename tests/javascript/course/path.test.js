// The core path: the next station, the remaining time, and the stored progress.

import assert from "node:assert/strict";
import { test } from "node:test";
import { corePath, describeProgress, nextStation, placeOf } from "../../../app/headlight_app/course/frontend/path.ts";
import { Progress } from "../../../app/headlight_app/course/frontend/progress.ts";

/** @param {string} name @param {number} core */
const screen = (name, core) => ({ name, title: name.toUpperCase(), about: "", minutes: 2, core });
const CONTENTS = [
  { name: "tokens", title: "", summary: "", screens: [screen("ids", 2), screen("merges", 0)] },
  { name: "attention", title: "", summary: "", screens: [screen("look-up", 1), screen("scale", 3)] },
];

function storage() {
  /** @type {Map<string, string>} */
  const kept = new Map();
  return {
    getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ text) => void kept.set(key, text),
  };
}

test("the core path continues by its numbers, other screens by their place", () => {
  assert.deepEqual(
    corePath(CONTENTS).map(({ path }) => path),
    ["attention/look-up", "tokens/ids", "attention/scale"],
  );
  assert.equal(nextStation(CONTENTS, "attention/look-up")?.path, "tokens/ids");
  assert.equal(nextStation(CONTENTS, "tokens/merges")?.path, "attention/look-up");
  assert.equal(nextStation(CONTENTS, "attention/scale"), undefined);
});

test("finished screens and the remaining time survive a reload", () => {
  const browser = storage();
  const progress = new Progress(browser);
  assert.equal(describeProgress(CONTENTS, progress), "0 of 3 done, 6 minutes left");
  progress.finish("attention/look-up");
  progress.visit("tokens/merges");
  progress.showsAtOnce = true;
  const again = new Progress(browser);
  assert.equal(describeProgress(CONTENTS, again), "1 of 3 done, 4 minutes left");
  assert.deepEqual([again.last, again.showsAtOnce], ["tokens/merges", true]);
  again.forget();
  assert.equal(new Progress(browser).isDone("attention/look-up"), false);
  assert.equal(new Progress(browser).showsAtOnce, true);
});

test("a screen of two chapters is done in both, and has one place in a room", () => {
  const progress = new Progress(storage());
  progress.finish("positions/order");
  assert.ok(!progress.isDone("first/order"));
  progress.know({ "first/order": "positions/order" });
  assert.ok(progress.isDone("first/order"));
  progress.finish("first/order");
  assert.deepEqual(JSON.parse(progress.text).done, ["positions/order"]);
  assert.equal(placeOf("first", "order", progress), placeOf("positions", "order", progress));
  assert.equal(placeOf("first", "", progress), "course/first");
});

test("another browser continues from a file and keeps its own progress", () => {
  const here = new Progress(storage());
  here.finish("attention/look-up");
  const browser = storage();
  const there = new Progress(browser);
  there.finish("tokens/ids");
  assert.equal(there.load("no file of the course"), false);
  assert.equal(there.load('{"done": []}'), false);
  assert.ok(there.load(here.text));
  const again = new Progress(browser);
  assert.ok(again.isDone("attention/look-up") && again.isDone("tokens/ids"));
  assert.equal(again.last, "attention/look-up");
});

test("the course works in a browser whose storage fails or contains garbage", () => {
  const refusing = {
    getItem: () => "{",
    setItem: () => {
      throw new Error("full");
    },
  };
  const progress = new Progress(refusing);
  progress.finish("tokens/ids");
  assert.ok(progress.isDone("tokens/ids"));
  assert.equal(new Progress({ ...refusing, getItem: () => '{"done": [1, "a"]}' }).isDone("a"), true);
});
