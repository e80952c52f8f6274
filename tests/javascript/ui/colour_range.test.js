// The colour range of weights: from 0 to 1, or up to the shown weights.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WEIGHT_COLOURS, weightColours } from "../../../app/headlight_app/ui/frontend/charts/colours.ts";
import {
  beyondEnd,
  currentColourRange,
  gridHigh,
  weightQuantile,
} from "../../../app/headlight_app/ui/frontend/state/colour_range.ts";
import {
  exactMatrix,
  fitColours,
  formatValue,
  matrixCodes,
  quantizedMatrix,
} from "../../../app/headlight_app/ui/frontend/state/head_matrix.ts";
import { decodeWeight } from "../../../app/headlight_app/ui/frontend/weight_code.ts";
import { COLOUR_RANGES, createPage, GROUP } from "../explore/page.js";

/** @import { Found, HeadMatrix, HeadViewAnswer } from "../../../app/headlight_app/ui/frontend/types.ts" */

const AXIS = { labels: ["The", " dog"], tokens: [[0], [1]] };
/** @type {HeadViewAnswer} */
const META = {
  rows: AXIS,
  columns: AXIS,
  signed: false,
  scale: "probability",
  low: 0,
  high: 1,
  per_head: 1,
  rules: [],
};

/** @param {number[]} weights @param {number[]} states @param {Partial<HeadViewAnswer>} [meta] @returns {HeadMatrix} */
function matrixOf(weights, states, meta = {}) {
  const numbers = new Float32Array(4 + 4 + 1);
  numbers.set([...weights, ...weights]);
  new Uint8Array(numbers.buffer).set(states, 4 * 8);
  return exactMatrix(createPage().page, /** @type {Found<HeadViewAnswer>} */ ({ meta: { ...META, ...meta }, numbers }));
}

/** @param {string} colour_range @param {HeadMatrix} matrix */
const fitted = (colour_range, matrix) => fitColours(createPage({ colour_range }).page, matrix, false);

test("the quantile of weights; the largest is exact", () => {
  const weights = Float32Array.from({ length: 100 }, (_, place) => (place + 1) / 200);
  assert.equal(weightQuantile([weights], 1), 0.5);
  assert.ok(Math.abs(weightQuantile([weights], 0.9) - 0.45) < 0.001);
  assert.equal(weightQuantile([Float32Array.of(0.25, Number.NaN), Float32Array.of(0.125)], 1), 0.25);
});

test("without a weight above 0, the scale ends at 1", () => {
  assert.equal(weightQuantile([new Float32Array(3)], 0.99), 1);
  assert.equal(weightQuantile([Float32Array.of(Number.NaN)], 1), 1);
});

test("colours extend to the largest weight, and the numbers do not change", () => {
  const matrix = matrixOf([0.25, 0, 0.0625, 0.25], [1, 0, 1, 1]);
  assert.equal(fitted("full", matrix), matrix);
  assert.deepEqual([...matrixCodes(matrix)], [128, 0, 65, 128]);
  const { page } = createPage({ colour_range: "largest" });
  const shown = fitColours(page, matrix, false);
  assert.deepEqual([shown.high, shown.fitted?.name], [0.25, "largest"]);
  assert.deepEqual([...matrixCodes(shown)], [255, 0, 128, 255]);
  assert.equal(formatValue(shown, 0.0625), formatValue(matrix, 0.0625));
  assert.equal(fitColours(page, matrix, false), shown, "it is created once");
});

test("hidden and forbidden cells do not affect the scale", () => {
  const matrix = matrixOf([1, 0.25, 0.0625, 1], [2, 1, 1, 0]);
  assert.equal(fitted("largest", matrix).high, 0.25);
});

test("values other than weights keep their colours", () => {
  const scores = matrixOf([1, 2, 3, 4], [1, 1, 1, 1], { scale: "linear", high: 4 });
  assert.equal(fitted("largest", scores), scores);
});

test("heads that are drawn separately share the largest one's scale", () => {
  const bytes = Uint8Array.from({ length: 6 * 9 }, (_, cell) => (cell < 9 ? 65 : 33));
  const { page } = createPage({ heads: ["0.0", "0.1"], colour_range: "largest" }, { bytes });
  const matrix = quantizedMatrix(page);
  assert.equal(fitColours(page, matrix, true).high, Math.fround(decodeWeight(65)));
  assert.ok(fitColours(page, matrix, false).high < decodeWeight(65), "their mean is smaller");
});

test("all heads of a group share one scale, without forbidden cells", () => {
  const bytes = new Uint8Array(6 * 9 + 9).fill(33);
  bytes.set([0, 65, 129], 9);
  bytes.fill(255, 6 * 9); // of another group
  const high = (/** @type {string} */ colour_range) => gridHigh(createPage({ colour_range }, { bytes }).page, GROUP);
  assert.deepEqual([high("full"), high("largest"), high("percentile")], [1, decodeWeight(129), decodeWeight(33)]);
  const empty = createPage({ colour_range: "largest" }, { bytes: new Uint8Array(6 * 9) });
  assert.equal(gridHigh(empty.page, GROUP), 1, "a long text's heads arrive later");
});

test("bytes are painted in colours that end at a given weight", () => {
  assert.equal(weightColours(1), WEIGHT_COLOURS);
  const quarter = weightColours(0.25);
  assert.deepEqual([quarter[0], quarter[1]], [WEIGHT_COLOURS[0], WEIGHT_COLOURS[1]]);
  assert.deepEqual([quarter[128], quarter[200]], [WEIGHT_COLOURS[255], WEIGHT_COLOURS[255]]);
  assert.equal(quarter[65], WEIGHT_COLOURS[129]);
});

test("the legend says if larger weights also have the last colour", () => {
  assert.deepEqual(COLOUR_RANGES.map(beyondEnd), ["", "", " and above"]);
  assert.equal(beyondEnd(), "");
});

test("an unknown range is replaced by the default", () => {
  assert.equal(currentColourRange(createPage({ colour_range: "other" }).page).name, "full");
});
