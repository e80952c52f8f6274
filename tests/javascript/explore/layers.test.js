// The panels of "Layers" and the walkthrough, computed from the server's numbers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { splitValues } from "../../../app/headlight_app/explore/frontend/walkthrough/walkthrough.ts";
import { wholeColumns } from "../../../app/headlight_app/ui/frontend/dom/scrolling.ts";

test("each step of the walkthrough gets its own numbers", () => {
  const value = (/** @type {string} */ symbol, /** @type {number} */ count) => ({
    symbol,
    axis: count > 1 ? "key" : null,
    count,
  });
  const step = (/** @type {string} */ name, /** @type {ReturnType<typeof value>[]} */ values) => ({
    name,
    title: "",
    explanation: "",
    part: /** @type {const} */ ("head"),
    formula: "",
    edited: false,
    shapes: [],
    values,
  });
  const steps = [step("score", [value("s", 2), value("m", 1)]), step("weigh", [value("a", 2)])];
  const split = splitValues({
    meta: { query: 0, key: 0, answer: -1, answers: [], steps },
    numbers: Float32Array.of(1, 2, 3, 4, 5),
  });
  assert.deepEqual(
    split.map(({ values }) => values.map(({ numbers }) => [...numbers])),
    [[[1, 2], [3]], [[4, 5]]],
  );
});

test("a table opens at its beginning if that shows the token, else at the edge of a column", () => {
  const columns = [60, 160, 260, 360].map((left) => ({ left }));
  assert.equal(wholeColumns(columns, 60, 460, 500), 0);
  const scrolled = wholeColumns(columns, 60, 468, 400);
  assert.ok(scrolled + 400 >= 460, "the token is visible");
  assert.ok(
    columns.some(({ left }) => Math.abs(left - 60 - scrolled) <= 2),
    "no column is cut off by the headings",
  );
});
