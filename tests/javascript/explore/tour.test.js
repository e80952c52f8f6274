// The guided start: the heads that it tries on the current sentence.

import assert from "node:assert/strict";
import { test } from "node:test";
import { headsToTry, worth } from "../../../app/headlight_app/explore/frontend/first_visit/tour.ts";

test("the heads that add most are tried, first those that look at an ordinary word", () => {
  const parts = Array.from({ length: 30 }, (_, place) => ({
    kind: place === 0 ? "feed_forward" : "self",
    layer: Math.floor(place / 8),
    head: place === 0 ? -1 : place % 8,
  }));
  const added = parts.map((_, place) => (place % 2 ? 1 : -1) * place);
  const found = headsToTry(parts, added, ({ head }) => head % 2 === 0);
  assert.equal(found.length, 6);
  assert.ok(
    found.every(({ part }) => part.head % 2 === 0),
    "of the twelve that add most, those that look at an ordinary word",
  );
  assert.deepEqual(found[0].added, -28);
});

test("a head scores highest if it adds to an answer whose probability falls without it", () => {
  const answer = { text: " girl", id: 1, before: 0.6, after: 0.6 };
  assert.equal(worth({ answer, after: 0.5, added: 0.3 }).toFixed(3), "0.100");
  assert.equal(worth({ answer, after: 0.5, added: -0.3 }).toFixed(3), "0.010");
  assert.equal(worth({ answer, after: 0.7, added: -0.3 }).toFixed(3), "0.100");
});
