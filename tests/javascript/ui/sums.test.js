// Sums that are shown with their parts: the numbers on the screen add up.

import "../dom.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { roundedParts } from "../../../app/headlight_app/ui/frontend/dom/numbers.ts";
import { changeTexts } from "../../../app/headlight_app/ui/frontend/views/changes.ts";
import { rowSum, withSums } from "../../../app/headlight_app/ui/frontend/views/matrix.ts";

/** @import { ChangesView, MatrixView } from "../../../app/headlight_app/ui/frontend/views/types.ts" */

/** Random numbers that are the same in each run. */
const random = (() => {
  let state = 7;
  return () => {
    state = (state * 16807) % 2147483647;
    return state / 2147483647;
  };
})();
/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((whole, number) => whole + number, 0);
/** @param {string} text */
const numberOf = (text) => Number(text.replaceAll(",", "").replace("−", "-"));
/** @param {string} before @param {(number | string)[][]} values */
const matrix = (before, values) =>
  /** @type {MatrixView} */ (
    /** @type {unknown} */ ({ kind: "matrix", before, values, texts: [], digits: 2, colours: "signed", least_scale: 0 })
  );
/** @param {number[]} parts @param {number | null} start */
const changes = (parts, start) =>
  /** @type {ChangesView} */ (
    /** @type {unknown} */ ({
      parts: parts.map((part, place) => [`part ${place}`, part]),
      start: start === null ? null : ["before", start],
      end: ["after", sum(parts) + (start ?? 0)],
    })
  );

test("the shown parts add up to the shown total, and each is less than a unit from its number", () => {
  for (let run = 0; run < 4000; run++) {
    const places = run % 4;
    const unit = 10 ** -places;
    const parts = Array.from({ length: 2 + (run % 11) }, () => (random() - 0.5) * 4);
    if (run % 3 === 0) parts[0] = Number(parts[0].toFixed(places)); // without an error
    const total = sum(parts) + (random() - 0.5) * 1e-6 * unit; // of 32 bits
    const shown = roundedParts(parts, total, places).map((part) => Number(part.toFixed(places)));
    assert.equal(Number(sum(shown).toFixed(places)) + 0, Number(total.toFixed(places)) + 0);
    shown.forEach((number, place) => {
      assert.ok(Math.abs(number - parts[place]) < unit, `${number} for ${parts[place]}`);
    });
    if (run % 3 === 0) assert.ok(shown[0] === parts[0], "an exact part stays");
    const plain = parts.map((part) => Number(part.toFixed(places)));
    if (sum(plain).toFixed(places) === total.toFixed(places))
      assert.ok(
        shown.every((number, place) => number === plain[place]),
        "nothing else is changed",
      );
  }
  assert.deepEqual(roundedParts([0.126, 0.126], 7, 2), [0.126, 0.126], "these are not all parts of 7");
});

test("a stream, what is added and their sum add up in each channel, with one scale of colours", () => {
  const [x, added] = [[[-0.0749, 1, -Infinity]], [[-0.1849, 0.5, 0]]];
  const total = x.map((row, down) => row.map((number, right) => number + added[down][right]));
  const views = /** @type {MatrixView[]} */ (withSums([matrix("", x), matrix("+", added), matrix("=", total)]));
  assert.deepEqual(
    views.map(({ texts }) => texts[0]),
    [
      ["−0.07", "1", "−∞"],
      ["−0.19", "0.50", "0"],
      ["−0.26", "1.50", "−∞"],
    ],
  );
  assert.deepEqual(new Set(views.map(({ least_scale }) => least_scale)), new Set([1.5]));
  const others = [matrix("", x), matrix("=", total)];
  assert.equal(withSums(others), others, "no sum");
  const row = [matrix("", [...x, ...x]), matrix("+", added), matrix("=", [...total, ...total])];
  assert.equal(withSums(row), row, "a row that is added to each");
  const written = [{ ...matrix("", x), texts: [["a", "b", "c"]] }, matrix("+", added), matrix("=", total)];
  assert.equal(withSums(written), written, "words stay");
});

test("the changes from a start to an end add up as they are written", () => {
  for (let run = 0; run < 500; run++) {
    const size = 10 ** ((run % 7) - 3);
    const parts = Array.from({ length: 1 + (run % 9) }, () => (random() - 0.5) * size);
    const { start, parts: shown, end } = changeTexts(changes(parts, run % 2 ? random() : null));
    const places = Math.max(...[start, ...shown, end].map((text) => text.split(".")[1]?.length ?? 0));
    assert.equal(Number(sum([start, ...shown].map(numberOf)).toFixed(places)) + 0, numberOf(end) + 0);
  }
});

test("changes have no more digits than their start and end need, and what is no number is told", () => {
  assert.deepEqual(changeTexts(changes([1e-6, -2e-6], 12.3456)), {
    start: "+12.3456",
    parts: ["0", "0"],
    end: "+12.3456",
  });
  assert.deepEqual(changeTexts(changes([0.0123, 0.5], 123456)), {
    start: "+123,456",
    parts: ["0", "+1"],
    end: "+123,457",
  });
  assert.deepEqual(changeTexts(changes([0.25, NaN], 1)).parts, ["+0.250", "–"]);
  assert.deepEqual(changeTexts(changes([0.25, -Infinity], 1)), { start: "+1.000", parts: ["+0.250", "−∞"], end: "−∞" });
});

test("changes that are no sum have equally many decimal places, but for those that these do not show", () => {
  const texts = (/** @type {number[]} */ ...parts) => changeTexts({ ...changes(parts, null), end: null }).parts;
  assert.deepEqual(texts(3.591, -1.6, 0.4), ["+3.59", "−1.60", "+0.40"]);
  assert.deepEqual(texts(97.04, -0.3, 0.0012), ["+97.0", "−0.3", "+0.0012"]);
  assert.deepEqual(texts(0.5, -0.00002, Number.NaN, 0), ["+0.500", "−2.00·10⁻⁵", "–", "0"]);
  assert.deepEqual(texts(1e-7), ["+1.00·10⁻⁷"]);
});

test("the sum of a row is that of the numbers shown, unless it is a unit of the last place too far", () => {
  for (let run = 0; run < 4000; run++) {
    const numbers = Array.from({ length: 1 + (run % 8) }, () => (random() - (run % 2) / 2) * 2);
    const exact = sum(numbers);
    const weights = numbers.map((number) => number / exact); // which add up to 1
    const told = numberOf(rowSum(matrix("", [numbers]), 0));
    assert.ok(Math.abs(told - exact) < 0.01, `${told} for ${numbers}`);
    const shown = sum(numbers.map((number) => Number(number.toFixed(2))));
    assert.ok(Math.abs(told - shown) < 1e-9 || Math.abs(shown - exact) > 0.0099, `${told} for ${numbers}`);
    assert.equal(rowSum(matrix("", [weights]), 0), "1");
  }
});
