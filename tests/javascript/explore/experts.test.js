// A token's experts, read from the numbers of a whole text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expertsAt } from "../../../app/headlight_app/explore/frontend/layers/experts/experts.js";

test("each token of each layer has its experts with their shares", () => {
  const numbers = new Float32Array([0, 1, 0.75, 0.25, 2, 0, 0.5, 0.5, 1, 2, 1, 0, 2, 1, 0.625, 0.375]);
  const found = { meta: { layers: [1, 2], experts: 3, chosen: 2 }, numbers };
  assert.deepEqual(expertsAt(found, 0, 1, 2), [
    { expert: 2, share: 0.5 },
    { expert: 0, share: 0.5 },
  ]);
  assert.deepEqual(expertsAt(found, 1, 1, 2)[0], { expert: 2, share: 0.625 });
});
