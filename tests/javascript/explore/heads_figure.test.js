// Figures for print have the same emphasis as the screen.

import assert from "node:assert/strict";
import { test } from "node:test";
import { exactMatrix } from "../../../app/headlight_app/ui/frontend/state/head_matrix.ts";
import { createPage } from "./page.js";

/** @import { Found, HeadViewAnswer } from "../../../app/headlight_app/ui/frontend/types.ts" */
/** @import { QkProjectionAnswer } from "../../../app/headlight_app/explore/frontend/contract.ts" */
/** @import { Curve, TextLine } from "../../../app/headlight_app/ui/frontend/export/contract.ts" */

// Texts are measured on a canvas, which Node does not have.
const canvas = { getContext: () => ({ measureText: (/** @type {string} */ text) => ({ width: 50 * text.length }) }) };
Object.assign(globalThis, { document: { createElement: () => canvas } });
const { drawHeads, rulesOf } = await import("../../../app/headlight_app/explore/frontend/export/heads_figure.ts");

const AXIS = { labels: ["The", " dog"], tokens: [[0], [1]] };
/** @type {HeadViewAnswer} */
const META = { rows: AXIS, columns: AXIS, signed: false, scale: "linear", low: 0, high: 1, per_head: 1, rules: [] };

/** @param {number[]} locked */
function linesOfFigure(locked) {
  const numbers = new Float32Array(4 + 4 + 1).fill(0.5);
  new Uint8Array(numbers.buffer).set([1, 1, 1, 1], 4 * 8);
  const found = /** @type {Found<HeadViewAnswer>} */ ({ meta: META, numbers });
  const matrix = exactMatrix(createPage().page, found);
  const shown = { page: createPage().page, matrix, heads: ["Layer 0 · Head 0"], locked };
  const { shapes } = drawHeads("lines", shown, 85, "").figure;
  const curves = /** @type {Curve[]} */ (shapes.filter(({ kind }) => kind === "curve"));
  const texts = /** @type {TextLine[]} */ (shapes.filter(({ kind }) => kind === "text"));
  return {
    opacities: curves.map(({ opacity }) => opacity),
    bold: texts.filter((text) => text.bold).map(({ text }) => text),
  };
}

test("the lines of a locked query stand out from the others, as on the screen", () => {
  const { opacities, bold } = linesOfFigure([1]);
  assert.deepEqual(bold, ["Layer 0 · Head 0", "dog"]);
  assert.equal(opacities.length, 4);
  assert.ok(Math.max(...opacities.slice(0, 2)) < 0.1, "the other query's lines come first and are faint");
  assert.ok(Math.min(...opacities.slice(2)) > 0.5);
});

test("without a locked query all lines are alike, and the head has its name", () => {
  const { opacities, bold } = linesOfFigure([]);
  assert.deepEqual([...new Set(opacities)].length, 1);
  assert.deepEqual(bold, ["Layer 0 · Head 0"]);
});

test("a map of several heads shows their combination and says so; lines show each head", () => {
  const numbers = new Float32Array(3 * 4 + 1).fill(0.5);
  new Uint8Array(numbers.buffer).set([1, 1, 1, 1], 4 * 12);
  const rules = ["attention weight", "mean of 2 heads"];
  const found = /** @type {Found<HeadViewAnswer>} */ ({ meta: { ...META, per_head: 2, rules }, numbers });
  const matrix = exactMatrix(createPage().page, found);
  const shown = { page: createPage().page, matrix, heads: ["Layer 0 · Head 0", "Layer 1 · Head 2"], locked: [] };
  const { shapes } = drawHeads("heatmap", shown, 85, "").figure;
  assert.equal(shapes.filter((shape) => shape.kind === "heatmap" && shape.rows === 2).length, 1);
  const bold = shapes.flatMap((shape) => (shape.kind === "text" && shape.bold ? shape.text : [])).join(" ");
  assert.equal(bold, "Mean of 2 heads: Layer 0 · Head 0, Layer 1 · Head 2");
  assert.deepEqual(rulesOf("heatmap", matrix), rules);
  assert.deepEqual(rulesOf("lines", matrix), ["attention weight"]);
});

test("a query's line crosses no name", () => {
  const weights = new Float32Array(4 + 4 + 1).fill(0.9);
  new Uint8Array(weights.buffer).set([1, 1, 1, 1], 4 * 8);
  const columns = { ...AXIS, labels: ["<|endoftext|>", " dog"] };
  const { page } = createPage({ pinned: [1] });
  const matrix = exactMatrix(
    page,
    /** @type {Found<HeadViewAnswer>} */ ({ meta: { ...META, columns }, numbers: weights }),
  );
  const meta = { queries: 2, explained_variance: [0.8, 0.1] };
  const numbers = new Float32Array([0.5, 0.6, 1, 0, -1, 0, -0.9, 0.7]); // the second query is level with the first key
  const plane = /** @type {Found<QkProjectionAnswer>} */ ({ meta, numbers });
  const shown = { page, matrix, heads: ["Layer 0 · Head 0"], locked: [1], plane };
  const { shapes } = drawHeads("qk_projection", shown, 85, "").figure;
  const names = shapes.filter(
    (shape) => shape.kind === "text" && [...AXIS.labels, ...columns.labels].some((name) => name.trim() === shape.text),
  );
  const level = shapes.flatMap((shape) =>
    shape.kind === "polyline" && shape.stroke === "#c47a0a" && shape.points[1] === shape.points[3]
      ? [shape.points]
      : [],
  );
  assert.equal(names.length, 4);
  assert.equal(level.length, 1);
  const [from, y, to] = [Math.min(level[0][0], level[0][2]), level[0][1], Math.max(level[0][0], level[0][2])];
  for (const { x, y: base, text_width, size } of /** @type {TextLine[]} */ (names))
    assert.ok(x + text_width < from || x > to || base < y || base - 0.8 * size > y, `${x} ${base}, ${from} ${to} ${y}`);
});
