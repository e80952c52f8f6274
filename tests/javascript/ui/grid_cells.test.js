// The size of the grid's thumbnails.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gridCells } from "../../../app/headlight_app/ui/frontend/plots/measurements.ts";

const EDGES = 38; // pixels beside the thumbnails of a row

/** @param {number} width @param {{ layers: number, heads: number }} shape */
function rowWidth(width, shape) {
  const { size, gap } = gridCells(width, shape);
  return EDGES + shape.heads * (size + gap);
}

test("twelve heads fit into the narrowest grid of a 1280-pixel window and of a phone", () => {
  for (const width of [301, 316, 340]) assert.ok(rowWidth(width, { layers: 12, heads: 12 }) <= width, String(width));
});

test("few heads are large, and too many heads stay distinguishable", () => {
  assert.deepEqual(gridCells(301, { layers: 6, heads: 8 }), { size: 28, gap: 4 });
  assert.equal(gridCells(900, { layers: 2, heads: 2 }).size, 92);
  assert.equal(gridCells(301, { layers: 32, heads: 32 }).size, 16);
});

test("eight heads of a layer fit a phone, each as wide as a touch target of WCAG 2.2 AA; more are scrolled", () => {
  const { size, gap } = gridCells(324, { layers: 6, heads: 8 }, true);
  assert.ok(size >= 24 && EDGES + 8 * (size + gap) <= 324);
  assert.equal(gridCells(324, { layers: 6, heads: 16 }, true).size, 24);
  assert.equal(gridCells(900, { layers: 2, heads: 2 }, true).size, 92);
});

test("on a tablet, where 44 pixels fit side by side, a finger has them, however many layers there are", () => {
  for (const layers of [6, 12, 32]) assert.ok(gridCells(900, { layers, heads: 12 }, true).size >= 44, String(layers));
});
