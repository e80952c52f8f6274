// First answers as bars: options keep their order, no student's own words are shown, and right is told from wrong.

import assert from "node:assert/strict";
import { test } from "node:test";
import { countBars } from "../../../app/headlight_app/room/frontend/counts.ts";

/** @typedef {import("../../../app/headlight_app/room/frontend/places.ts").Described} Described */

/** @type {Described} */
const NOTHING = {
  ...{ place: 0, kind: "choice", text: "Which?", options: [], rows: [], columns: [], ruled_out: [], hints: [] },
  ...{ more_hints: false, given: "", mistake: "", said: "", is_settled: false, is_right: false },
};

const NO_MARK = { isRight: null, mistake: "" };

/**
 * @param {Record<string, number>} counts
 * @param {Described | null} question
 */
const judged = (counts, question, variant = "") =>
  Object.entries(counts).map(([name, count]) => ({ name, count, variant, question }));

/** @param {{ label: string, count: number }[]} bars */
const shown = (bars) => Object.fromEntries(bars.map(({ label, count }) => [label, count]));

test("options keep their order, including unchosen ones, and made-up answers are not shown", () => {
  const question = { ...NOTHING, options: ["a", "b", "c"] };
  const bars = countBars(judged({ c: 2, a: 1, "Rude!": 3, "<b>": 1, "!": 1 }, question), false, false);
  assert.deepEqual(shown(bars), { a: 1, b: 0, c: 2, "something else": 4, "asked to be shown": 1 });
  assert.deepEqual(
    bars.slice(0, 3).map(({ label }) => label),
    ["a", "b", "c"],
  );
});

test("numbers are shown once the teacher allows it, and only as numbers", () => {
  const answers = judged({ 0.5: 2, "0,50": 1, "−1": 1, Rude: 1 }, { ...NOTHING, kind: "number" });
  assert.deepEqual(shown(countBars(answers, false, false)), { "a number, not shown": 5 });
  assert.deepEqual(shown(countBars(answers, true, false)), { 0.5: 3, "-1": 1, "something else": 1 });
});

test("of many different answers only the most frequent have their own bars", () => {
  const counts = Object.fromEntries(Array.from({ length: 20 }, (_, place) => [String(place + 0.5), 20 - place]));
  const bars = countBars(judged(counts, { ...NOTHING, kind: "number" }), true, false);
  assert.equal(bars.length, 8);
  assert.deepEqual(shown(bars.slice(0, 1)), { 0.5: 20 });
  assert.equal(
    bars.reduce((sum, { count }) => sum + count, 0),
    210,
  );
});

test("cells and orders have the question's names; others are not shown", () => {
  /** @type {Described} */
  const point = { ...NOTHING, kind: "point", rows: ["the", "cat"], columns: ["x", "y"] };
  assert.deepEqual(shown(countBars(judged({ "1,0": 2, "7,7": 1, Rude: 1 }, point), false, false)), {
    "cat → x": 2,
    "something else": 2,
  });
  /** @type {Described} */
  const order = { ...NOTHING, kind: "order", options: ["scale", "mask"] };
  assert.deepEqual(shown(countBars(judged({ "1,0": 1, "0,5": 1 }, order), false, false)), {
    "mask · scale": 1,
    "something else": 1,
  });
});

test("marked bars are right or wrong, with the known mistake beside them", () => {
  const options = ["a", "b", "c"];
  const answers = [
    ...judged({ a: 2 }, { ...NOTHING, options, given: "a", is_right: true }),
    ...judged({ b: 1 }, { ...NOTHING, options, given: "b", mistake: "That is the key." }),
  ];
  assert.deepEqual(countBars(answers, false, true), [
    { label: "a", count: 2, isRight: true, mistake: "" },
    { label: "b", count: 1, isRight: false, mistake: "That is the key." },
    { label: "c", count: 0, isRight: null, mistake: "" },
  ]);
  assert.ok(countBars(answers, false, false).every(({ isRight, mistake }) => isRight === null && !mistake));
});

test("one answer to two questions is not one bar of that answer", () => {
  /** @type {Described} */
  const asked = { ...NOTHING, kind: "number", given: "12" };
  const answers = [
    ...judged({ 12: 1 }, { ...asked, text: "2 × 6?", is_right: true }, "1"),
    ...judged({ 12: 1 }, { ...asked, text: "2 × 6?", about: "others", mistake: "You doubled." }, "2"),
    ...judged({ 12: 1 }, { ...asked, text: "5 × 6?" }, "3"),
    ...judged({ 12: 1 }, null, "other"),
  ];
  const others = { "asked with inputs of their own": 1 };
  assert.deepEqual(shown(countBars(answers, true, false)), { answered: 3, ...others });
  assert.deepEqual(shown(countBars(answers, true, true)), {
    right: 1,
    "You doubled.": 1,
    "another answer": 1,
    ...others,
  });
});

test("drawings with different marks are bars of their own, and what is no answer has no mark", () => {
  /** @type {Described} */
  const draw = { ...NOTHING, kind: "draw" };
  const answers = [
    ...judged({ "1,0": 2 }, { ...draw, given: "1,0", is_right: true }),
    ...judged({ "0,1": 1 }, { ...draw, given: "0,1", mistake: "You have swapped the axes." }),
    ...judged({ "1,1": 1, "0,0": 1 }, { ...draw, given: "1,1" }),
  ];
  const label = "a drawing";
  assert.deepEqual(countBars(answers, false, true), [
    { label, count: 2, isRight: true, mistake: "" },
    { label, count: 1, isRight: false, mistake: "You have swapped the axes." },
    { label, count: 2, isRight: false, mistake: "" },
  ]);
  assert.deepEqual(shown(countBars(answers, false, false)), { [label]: 5 });
  const rude = judged({ Rude: 1 }, { ...NOTHING, options: ["a"] });
  assert.deepEqual(countBars(rude, false, true).at(-1), { ...NO_MARK, label: "something else", count: 1 });
});

test("a goal that a student has reached on their own screen is neither right nor wrong", () => {
  /** @type {Described} */
  const goal = { ...NOTHING, kind: "design", given: "check", is_right: null };
  const bars = countBars(judged({ check: 3, "!": 1 }, goal), false, true);
  assert.deepEqual(bars, [
    { ...NO_MARK, label: "handed a design in", count: 3 },
    { ...NO_MARK, label: "asked to be shown", count: 1 },
  ]);
});
