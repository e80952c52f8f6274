// The tables of the page Positions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lossTable } from "../../../app/headlight_app/positions/frontend/export.js";

test("the losses of encoders are those of masked tokens, in an exported table as well", () => {
  const measured = { command: "", models: [], lengths: [64], target_count: 1, rows: [] };
  const unit = (/** @type {string} */ architecture) =>
    lossTable(/** @type {any} */ ({ ...measured, architecture }))[1].axes[1];
  assert.deepEqual(["encoder", "decoder"].map(unit), ["bits per masked token", "bits per token"]);
});
