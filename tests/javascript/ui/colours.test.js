// Colour scales and the pixels of byte codes.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CIVIDIS,
  colour,
  PURPLE_ORANGE,
  readableInk,
  SIGNED_COLOURS,
  SIGNED_INK,
  WEIGHT_COLOURS,
} from "../../../app/headlight_app/ui/frontend/charts/colours.ts";
import { decodeWeight } from "../../../app/headlight_app/ui/frontend/weight_code.ts";

/** @param {number} pixel red in the lowest byte */
const channels = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255, pixel >>> 24];

test("a scale begins and ends with its own colours, and is clamped beyond", () => {
  assert.deepEqual(colour(0), CIVIDIS[0]);
  assert.deepEqual(colour(1), CIVIDIS.at(-1));
  assert.deepEqual(colour(-3), colour(0));
  assert.deepEqual(colour(7), colour(1));
});

test("halfway between two colours is their mean", () => {
  assert.deepEqual(
    colour(0.5, [
      [0, 0, 0],
      [100, 50, 11],
    ]),
    [50, 25, 6],
  );
});

test("a forbidden cell is transparent, all others are opaque", () => {
  for (const table of [WEIGHT_COLOURS, SIGNED_COLOURS]) {
    assert.equal(table.length, 256);
    assert.equal(table[0], 0);
    assert.ok(table.slice(1).every((pixel) => pixel >>> 24 === 255));
  }
});

test("the smallest weight has the first colour, the largest the last", () => {
  assert.deepEqual(channels(WEIGHT_COLOURS[1]), [...CIVIDIS[0], 255]);
  assert.deepEqual(channels(WEIGHT_COLOURS[255]), [...colour(1), 255]);
});

test("no difference is white, and both signs are equally far from it", () => {
  assert.deepEqual(channels(SIGNED_COLOURS[128]), [255, 255, 255, 255]);
  assert.deepEqual(channels(SIGNED_COLOURS[1]), [...PURPLE_ORANGE[0], 255]);
});

test("numbers of a vector near zero show the ground, be it white or dark", () => {
  for (const level of [127, 128]) assert.ok(SIGNED_INK[level] >>> 24 <= 1);
  for (const level of [0, 255]) assert.equal(SIGNED_INK[level] >>> 24, 255);
  assert.ok(channels(SIGNED_INK[0])[2] > channels(SIGNED_INK[0])[0], "purple");
  assert.ok(channels(SIGNED_INK[255])[0] > channels(SIGNED_INK[255])[2], "orange");
});

test("codes are square roots of weights", () => {
  assert.ok(Number.isNaN(decodeWeight(0)));
  assert.equal(decodeWeight(1), 0);
  assert.equal(decodeWeight(255), 1);
  assert.equal(decodeWeight(128), 0.25);
});

test("text on any colour of a scale has WCAG's contrast of 4.5 to 1", () => {
  const linear = (/** @type {number} */ channel) =>
    channel <= 10 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4;
  for (const share of Array.from({ length: 255 }, (_, step) => step / 254)) {
    const [red, green, blue] = colour(share).map(linear);
    const ground = 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
    const ratio = readableInk(colour(share)) === "#000" ? ground / 0.05 : 1.05 / ground;
    assert.ok(ratio >= 4.5, `${ratio} at ${share}`);
  }
});
