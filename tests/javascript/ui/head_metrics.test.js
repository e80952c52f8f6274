// The metrics of heads: with the answer, later, or replaced by an error sentence.

import assert from "node:assert/strict";
import { test } from "node:test";
import { metricsOf, metricsTrouble } from "../../../app/headlight_app/ui/frontend/heads/head_order.ts";
import { createPage, GROUP } from "../explore/page.js";

/** @param {object | null} meta what the server says of the metrics */
function pageWhere(meta) {
  const { page } = createPage();
  return Object.assign(page, { server: { get: () => meta && { meta, numbers: new Float32Array() } } });
}

test("metrics that the server cannot measure are replaced by a sentence", () => {
  const error = "this text is too long for that.";
  assert.equal(metricsTrouble(pageWhere({ error }), GROUP), error);
  assert.equal(metricsOf(pageWhere({ error }), GROUP), null);
});

test("pending and present metrics have no error sentence", () => {
  const metrics = { previous: [1] };
  assert.equal(metricsTrouble(pageWhere(null), GROUP), "");
  assert.equal(metricsTrouble(pageWhere({ metrics }), GROUP), "");
  assert.equal(metricsOf(pageWhere({ metrics }), GROUP), metrics);
  assert.equal(metricsTrouble(pageWhere({ error: "x" }), { ...GROUP, metrics }), "");
});
