// First answers as bars: options keep their order, and no student's own words are shown.

import assert from "node:assert/strict";
import { test } from "node:test";
import { countBars } from "../../../app/headlight_app/room/frontend/counts.ts";

const NOTHING = { text: "Which?", options: [], rows: [], columns: [] };

/** @param {Record<string, number>} counts */
const counted = (counts) => Object.entries(counts).map(([name, count]) => ({ name, count }));

/** @param {{ label: string, count: number }[]} bars */
const shown = (bars) => Object.fromEntries(bars.map(({ label, count }) => [label, count]));

test("options keep their order, including unchosen ones, and made-up answers are not shown", () => {
  const question = { ...NOTHING, kind: /** @type {const} */ ("choice"), options: ["a", "b", "c"] };
  const bars = countBars(question, counted({ c: 2, a: 1, "Rude!": 3, "<b>": 1, "!": 1 }), false);
  assert.deepEqual(shown(bars), { a: 1, b: 0, c: 2, "something else": 4, "asked to be shown": 1 });
  assert.deepEqual(
    bars.slice(0, 3).map(({ label }) => label),
    ["a", "b", "c"],
  );
});

test("numbers are shown once the teacher allows it, and only as numbers", () => {
  const question = { ...NOTHING, kind: /** @type {const} */ ("number") };
  const answers = counted({ 0.5: 2, "0,50": 1, "−1": 1, Rude: 1 });
  assert.deepEqual(shown(countBars(question, answers, false)), { "a number, not shown": 5 });
  assert.deepEqual(shown(countBars(question, answers, true)), { 0.5: 3, "-1": 1, "something else": 1 });
});

test("of many different answers only the most frequent have their own bars", () => {
  const question = { ...NOTHING, kind: /** @type {const} */ ("number") };
  const answers = counted(
    Object.fromEntries(Array.from({ length: 20 }, (_, place) => [String(place + 0.5), 20 - place])),
  );
  const bars = countBars(question, answers, true);
  assert.equal(bars.length, 8);
  assert.deepEqual(bars[0], { label: "0.5", count: 20 });
  assert.equal(
    bars.reduce((sum, { count }) => sum + count, 0),
    210,
  );
});

test("cells and orders have the question's names; others are not shown", () => {
  const point = { ...NOTHING, kind: /** @type {const} */ ("point"), rows: ["the", "cat"], columns: ["x", "y"] };
  assert.deepEqual(shown(countBars(point, counted({ "1,0": 2, "7,7": 1, Rude: 1 }), false)), {
    "cat → x": 2,
    "something else": 2,
  });
  const order = { ...NOTHING, kind: /** @type {const} */ ("order"), options: ["scale", "mask"] };
  assert.deepEqual(shown(countBars(order, counted({ "1,0": 1, "0,5": 1 }), false)), {
    "mask · scale": 1,
    "something else": 1,
  });
});
