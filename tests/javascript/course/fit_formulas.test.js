// The size at which a formula fits its line.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fittingShare } from "../../../app/headlight_app/ui/frontend/formulas/fit_formulas.ts";

/**
 * Fits a formula whose letters shrink and whose subscripts do not.
 * @param {number} room @param {number} letters width at the normal size @param {number} subscripts
 */
function fitted(room, letters, subscripts = 0) {
  /** @type {number[]} */
  const measured = [];
  const share = fittingShare(room, (tried) => {
    measured.push(tried);
    return letters * tried + subscripts;
  });
  assert.equal(measured.at(-1), share); // the size that the formula was given
  return { share, width: letters * share + subscripts };
}

test("a formula that fits keeps its size", () => {
  for (const width of [0, 40, 300]) assert.equal(fitted(300, width).share, 1);
});

test("a wide formula shrinks until it fits, and no further", () => {
  for (const [letters, subscripts] of [
    [400, 0],
    [330, 0],
    [300, 60],
    [260, 90],
  ]) {
    const { share, width } = fitted(300, letters, subscripts);
    assert.ok(share < 1 && Math.abs(width - 300) < 3, `${letters} and ${subscripts}: ${width}`);
  }
});

test("a formula that is far too wide stays legible; its line scrolls", () => {
  for (const width of [600, 5000]) assert.equal(fitted(300, width).share, fitted(1, 1000).share);
  assert.ok(fitted(300, 5000).share > 0.6);
});
