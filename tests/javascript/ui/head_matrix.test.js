// The selected heads as a matrix: its request, and its values from a group's bytes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAtPointer } from "../../../app/headlight_app/ui/frontend/charts/heatmap.ts";
import {
  columnSums,
  combineHeads,
  currentMatrix,
  exactMatrix,
  FORBIDDEN,
  formatValue,
  magnitude,
  matrixCodes,
  matrixQuery,
  patternCodes,
  quantizedMatrix,
  SHOWN,
  stateAt,
  valueAt,
} from "../../../app/headlight_app/ui/frontend/state/head_matrix.ts";
import { createPage, GROUP } from "../explore/page.js";

/** @import { Found, HeadViewAnswer } from "../../../app/headlight_app/ui/frontend/types.ts" */

const CAUSAL = [255, 0, 0, 128, 128, 0, 1, 128, 255];
/** The bytes of all heads, all causal. */
const BYTES = Uint8Array.from({ length: 6 * 9 }, (_, cell) => CAUSAL[cell % 9]);
const AXIS = { labels: ["The", " dog"], tokens: [[0], [1, 2]] };
/** @type {HeadViewAnswer} */
const META = { rows: AXIS, columns: AXIS, signed: true, scale: "linear", low: -2, high: 2, per_head: 1, rules: [] };

/** An exact answer: the matrix, one head, and the states of the cells. */
function found() {
  const numbers = new Float32Array(4 + 4 + 1);
  numbers.set([1, -2, 0.5, 0, 1, -2, 0.5, 0]);
  new Uint8Array(numbers.buffer).set([1, 1, 2, 1], 4 * 8);
  return /** @type {Found<HeadViewAnswer>} */ ({ meta: META, numbers });
}

test("a zoom applies to the heatmap, which is also the default plot", () => {
  const zoom = "3-8/1-6";
  assert.equal(matrixQuery(createPage({ plot: "", zoom }).page).choice.zoom, zoom);
  assert.equal(matrixQuery(createPage({ plot: "heatmap", zoom }).page).choice.zoom, zoom);
  assert.equal(matrixQuery(createPage({ plot: "table", zoom }).page).choice.zoom, undefined);
});

test("several heads are described as on the server: their mean or their largest", () => {
  const heads = ["0.1", "1.2"];
  const rule = (/** @type {string} */ head_reduction) =>
    quantizedMatrix(createPage({ heads, head_reduction }, { bytes: BYTES }).page).rules.join();
  assert.match(rule("max"), /largest of 2 heads/);
  assert.match(rule("mean"), /mean of 2 heads/);
});

test("requests contain only relevant choices, so that equal ones are sent once", () => {
  assert.deepEqual(matrixQuery(createPage({ layer: 1, head: 2 }).page), {
    choice: { attention: "decoder.self", quantity: "weights", layer: 1, head: 2 },
  });
  const { page } = createPage({
    heads: ["0.1", "1.2"],
    head_reduction: "max",
    hide: "special",
    renormalize: "one",
    top_mass: 90,
    plot: "lines",
  });
  assert.deepEqual(matrixQuery(page), {
    choice: {
      attention: "decoder.self",
      quantity: "weights",
      heads: ["0.1", "1.2"],
      head_reduction: "max",
      hide: "special",
      renormalize: "one",
      top_mass: 90,
    },
    per_head: true,
  });
});

test("a group's bytes are a matrix without a request", () => {
  const matrix = quantizedMatrix(createPage({ head: 1 }, { bytes: BYTES }).page);
  assert.deepEqual([valueAt(matrix, 0, 0), valueAt(matrix, 1, 0), valueAt(matrix, 2, 2)], [1, 0.25, 1]);
  assert.deepEqual([stateAt(matrix, 0, 1), stateAt(matrix, 2, 0)], [FORBIDDEN, SHOWN]);
  assert.deepEqual([...matrixCodes(matrix)], CAUSAL);
  assert.equal(formatValue(matrix, 0.25), "≈ 0.25");
});

test("a long text's cells stand for blocks of tokens", () => {
  const group = { ...GROUP, pooled_shape: /** @type {[number, number]} */ ([1, 1]) };
  const matrix = quantizedMatrix(
    createPage({}, { attention_groups: [group], bytes: Uint8Array.of(128, 0, 0, 0, 0, 0) }).page,
  );
  assert.deepEqual([valueAt(matrix, 0, 0), valueAt(matrix, 2, 2)], [0.25, 0.25]);
});

test("several heads are combined by mean or maximum; a cell forbidden in all stays forbidden", () => {
  const each = [Float32Array.of(1, 0.5, Number.NaN), Float32Array.of(0, Number.NaN, Number.NaN)];
  assert.deepEqual([...combineHeads(each, "mean")], [0.5, 0.25, Number.NaN]);
  assert.deepEqual([...combineHeads(each, "max")], [1, 0.5, Number.NaN]);
});

test("an exact answer has numbers, heads and states", () => {
  const matrix = exactMatrix(createPage().page, found());
  assert.deepEqual([valueAt(matrix, 0, 1), stateAt(matrix, 1, 0)], [-2, 2]);
  assert.deepEqual([...matrix.per_head[0]], [1, -2, 0.5, 0]);
  assert.deepEqual([matrix.rowOf.get(2), matrix.columnOf.get(0)], [1, 0]);
  assert.deepEqual([formatValue(matrix, -2), formatValue(matrix, 0.5)], ["−2.00000", "+0.50000"]);
  assert.deepEqual(columnSums(matrix, [0, 1]), [1, -2]);
  assert.deepEqual([magnitude(matrix, -1), magnitude(matrix, 9), magnitude(matrix, Number.NaN)], [0.5, 1, 0]);
  assert.deepEqual([...matrixCodes(matrix)], [192, 1, 0, 128]);
});

test("bytes are shown until the exact answer arrives; without usable bytes the last matrix stays", () => {
  const { page, state } = createPage({}, { bytes: BYTES });
  /** @type {Found<HeadViewAnswer> | null} */
  let answer = null;
  Object.assign(page, { server: { get: () => answer } });
  const first = currentMatrix(page);
  assert.equal(first.exact, false);
  state.update({ hide: "special" });
  assert.equal(currentMatrix(page), first);
  answer = found();
  assert.equal(currentMatrix(page).exact, true);
});

test("a point on the map is a cell, and outside it none", () => {
  const canvas = /** @type {HTMLCanvasElement} */ ({ getBoundingClientRect: () => ({ left: 100, top: 50 }) });
  const layout = { rows: 3, columns: 3, x: 20, y: 10, width: 8, height: 8, left: 20, top: 10, size: 12 };
  const at = (/** @type {number} */ clientX, /** @type {number} */ clientY) =>
    cellAtPointer(canvas, layout, /** @type {MouseEvent} */ ({ clientX, clientY }));
  assert.deepEqual(at(121, 61), { query: 0, key: 0 });
  assert.deepEqual(at(143, 69), { query: 1, key: 2 });
  assert.equal(at(119, 61), null);
  assert.equal(at(121, 85), null);
  const twice = /** @type {MouseEvent} */ ({ clientX: 186, clientY: 88 });
  assert.deepEqual(cellAtPointer(canvas, layout, twice, 2), { query: 1, key: 2 });
  assert.equal(cellAtPointer(canvas, null, /** @type {MouseEvent} */ ({ clientX: 121, clientY: 61 })), null);
});

test("a switched-off head keeps its trained pattern", () => {
  const bytes = Uint8Array.from([...Array(54).fill(1), ...Array(9).fill(200)]);
  const group = { ...GROUP, faded: /** @type {[number, number][]} */ ([[1, 2]]), faded_offset: 54 };
  const { page } = createPage({}, { bytes, attention_groups: [group] });
  assert.deepEqual([...patternCodes(page, group, 1, 2)], Array(9).fill(200));
  assert.deepEqual([...patternCodes(page, group, 1, 1)], Array(9).fill(1));
});
