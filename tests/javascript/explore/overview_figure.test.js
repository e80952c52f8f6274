// All heads in one figure, with each layer's numbers beside it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { COLOUR_RANGES } from "./page.js";

/** @import { LayerColumn } from "../../../app/headlight_app/explore/frontend/types.ts" */
/** @import { TextLine } from "../../../app/headlight_app/ui/frontend/export/contract.ts" */
/** @import { CellsShape } from "../../../app/headlight_app/ui/frontend/export/types.ts" */

// Texts are measured on a canvas, which Node does not have.
const canvas = { getContext: () => ({ measureText: (/** @type {string} */ text) => ({ width: 50 * text.length }) }) };
Object.assign(globalThis, { document: { createElement: () => canvas } });
const { createOverview } = await import("../../../app/headlight_app/explore/frontend/export/overview_figure.ts");
const { addFoot } = await import("../../../app/headlight_app/ui/frontend/charts/figure_text.ts");

/** @type {LayerColumn[]} */
const COLUMNS = [
  { title: "residual\nnorm", embedding: "1.5", layers: ["2.25", "3.125"], align: "end" },
  { title: "likeliest\ntoken", embedding: "", layers: ["cat", "dog"], align: "start" },
];

/** @param {{ width?: number, heads?: number, columns?: LayerColumn[], high?: number }} [options] */
function overview({ width = 180, heads = 3, columns = COLUMNS, high = 1 } = {}) {
  const cells = (/** @type {number} */ layer, /** @type {number} */ head) =>
    layer === 1 && head === 2 ? null : { codes: Uint8Array.of(128, 0, 65, 255), rows: 2, columns: 2 };
  const [full, , percentile] = COLOUR_RANGES;
  const shown = { layers: 2, heads, cells, range: high < 1 ? percentile : full, high };
  const { figure, y } = createOverview(shown, columns, { width, title: "Heads" });
  addFoot(figure, ["what it shows"], ["a model"], y);
  const texts = /** @type {TextLine[]} */ (figure.shapes.filter(({ kind }) => kind === "text"));
  const maps = /** @type {CellsShape[]} */ (
    figure.shapes.filter((shape) => shape.kind === "heatmap" && shape.rows > 1)
  );
  return { figure, texts, maps, named: (/** @type {string} */ name) => texts.filter(({ text }) => text === name) };
}

test("every head is shown, a switched-off one as a crossed square", () => {
  const { figure, maps, named } = overview();
  assert.equal(maps.length, 5);
  assert.equal(figure.shapes.filter(({ kind }) => kind === "curve").length, 1);
  for (const name of ["Heads", "head", "0", "1", "2", "embedding", "layer 0", "layer 1", "what it shows", "a model"])
    assert.ok(named(name).length, name);
});

test("a layer's numbers are on the line of its name, in the middle of its heads", () => {
  const { maps, named } = overview();
  for (const [name, number, map] of /** @type {[string, string, number][]} */ ([
    ["layer 0", "2.25", 0],
    ["layer 1", "3.125", 3],
  ])) {
    assert.equal(named(name)[0].y, named(number)[0].y);
    assert.ok(Math.abs(named(name)[0].y - (maps[map].y + maps[map].height / 2)) < 1);
  }
  assert.equal(named("embedding")[0].y, named("1.5")[0].y);
  assert.ok(named("embedding")[0].y < maps[0].y);
});

test("nothing lies outside the figure, however many heads there are", () => {
  for (const [width, heads] of [
    [180, 3],
    [85, 12],
    [85, 64],
  ]) {
    const { figure, texts, maps } = overview({ width, heads });
    assert.ok(figure.width >= width);
    for (const { x, text_width, anchor } of texts) {
      const left = anchor === "end" ? x - text_width : anchor === "middle" ? x - text_width / 2 : x;
      assert.ok(left >= 0 && left + text_width <= figure.width + 0.01);
    }
    assert.ok(maps.every((map) => map.width >= 1.4 && map.x + map.width <= figure.width));
    assert.ok(maps.every((map) => map.y + map.height <= figure.height));
  }
});

test("all heads share one scale, which is in the legend", () => {
  const [map] = overview().maps;
  assert.deepEqual([...map.codes], [128, 0, 65, 255]);
  const { maps, named } = overview({ high: 0.25 });
  assert.deepEqual([...maps[0].codes], [255, 0, 129, 255]);
  assert.equal(named("≈ 0.25 and above  square-root scale").length, 1);
});

test("without numbers the figure has only the heads", () => {
  const { maps, named } = overview({ columns: [] });
  assert.equal(maps.length, 5);
  assert.equal(named("embedding").length, 0);
});
