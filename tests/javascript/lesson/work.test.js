// A browser's stored work on a lesson: seed, answers and step of the current version.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Work } from "../../../app/headlight_app/lesson/frontend/work.ts";

const LESSON = {
  name: "heads",
  question: "",
  title: "",
  about: "",
  minutes: 5,
  version: 1,
  steps: ["one", "two", "three"],
  asks: [true, false, true],
  chooses_model: false,
  model: "stories",
  needs: "",
};

function storage() {
  /** @type {Map<string, string>} */
  const kept = new Map();
  return {
    getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ text) => void kept.set(key, text),
  };
}

test("a reload continues with the same seed, step and answers", () => {
  const kept = storage();
  const work = new Work(kept, LESSON);
  work.answer(0, "?");
  work.answer(0, "lower");
  work.settle(0, true);
  work.settle(2, false);
  work.settle(0, false); // a question is settled once
  work.go(2);
  const again = new Work(kept, LESSON);
  assert.equal(again.seed, work.seed);
  assert.equal(again.step, 2);
  assert.deepEqual(again.answers, [["?", "lower"], [], []]);
  assert.deepEqual(again.settledCount, { settled: 2, right: 1, asked: 2 });
  assert.deepEqual(
    [0, 1, 2].map((step) => again.stateOf(step)),
    ["right", "", "told"],
  );
});

test("an answer that did not reach the server is taken back", () => {
  const work = new Work(storage(), LESSON);
  work.answer(2, "1");
  work.answer(2, "2");
  work.takeBack(2);
  assert.deepEqual(work.triesOf(2), ["1"]);
});

test("a restart and a new version begin empty", () => {
  const kept = storage();
  const work = new Work(kept, { ...LESSON, chooses_model: true });
  assert.equal(work.model, "stories");
  work.answer(0, "x");
  work.go(1);
  work.restart("mine");
  assert.deepEqual([work.step, work.model, work.answers], [0, "mine", [[], [], []]]);
  work.answer(0, "y");
  const newer = new Work(kept, { ...LESSON, version: 2 });
  assert.deepEqual([newer.answers, newer.model], [[[], [], []], ""]);
});

test("garbage in the storage is ignored, and a failing storage is tolerated", () => {
  for (const text of ["no", "null", "[]", '{"version":1}', '{"version":1,"seed":1,"step":0,"tries":3}']) {
    const work = new Work({ getItem: () => text, setItem: () => {} }, LESSON);
    assert.deepEqual(work.answers, [[], [], []]);
  }
  const refusing = () => {
    throw new Error("no storage");
  };
  const work = new Work({ getItem: refusing, setItem: refusing }, LESSON);
  work.answer(0, "a");
  assert.deepEqual(work.triesOf(0), ["a"]);
});
