// Number axes: their marks, and the places of values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createScale, formatMark, powersOfTen, ticks } from "../../../app/headlight_app/ui/frontend/charts/scale.ts";

test("ticks are round numbers within the range", () => {
  assert.deepEqual(ticks(0, 255), [0, 100, 200]);
  assert.deepEqual(ticks(-1, 1), [-1, -0.5, 0, 0.5, 1]);
  assert.deepEqual(ticks(-128, 128), [-100, 0, 100]);
  assert.deepEqual(ticks(3, 3), [3]);
});

test("marks are formatted as numbers, and large powers of ten as powers", () => {
  assert.deepEqual([0, -0.5, 1000, 1e7, 1e-5, 25].map(formatMark), ["0", "−0.5", "1,000", "10⁷", "10⁻⁵", "25"]);
});

test("an axis of powers of ten has only as many marks as fit", () => {
  assert.deepEqual(powersOfTen(2, 900), [1, 10, 100, 1000]);
  assert.ok(powersOfTen(1e-12, 1e12).length <= 9);
});

test("values are between the ends of their axis, and so are the marks", () => {
  const scale = createScale([2, 4, NaN, Infinity], 100, 0, { fromZero: true });
  assert.deepEqual([scale.low, scale.high, scale.place(0), scale.place(4), scale.place(2)], [0, 4, 100, 0, 50]);
  assert.deepEqual(scale.marks, [0, 1, 2, 3, 4]);
  const powers = createScale([0, 1, 1000], 0, 30, { isLog: true });
  assert.deepEqual([powers.low, powers.place(10), powers.marks], [1, 10, [1, 10, 100, 1000]]);
});

test("a logarithmic axis without two powers of ten has other round numbers", () => {
  const { marks, place } = createScale([3, 8], 0, 10, { isLog: true });
  assert.deepEqual(marks, [3, 4, 5, 6, 7, 8]);
  assert.ok(place(4) > 2.9 && place(8) === 10);
  assert.deepEqual(createScale([7, 90], 0, 10, { isLog: true }).marks, [20, 40, 60, 80]);
});

test("an axis of one value, or of none, has a length", () => {
  for (const values of [[3], [], [NaN]])
    for (const isLog of [false, true]) {
      const { low, high, place } = createScale(values, 0, 10, { isLog });
      assert.ok(low < high && Number.isFinite(place(high)), `${values} ${isLog}`);
    }
});
