// Where a token comes from, in words and as tables.

import assert from "node:assert/strict";
import { test } from "node:test";
import { copyingTables, sourceWords } from "../../../app/headlight_app/generate/frontend/copying.ts";

const element = () => ({ textContent: "" });
Object.assign(globalThis, { document: { createElement: element }, HTMLButtonElement: class {} });

const HEAD = { path: "decoder.1.self", head: 2, key: 3, weight: 0.9, logit: 4 };
const PASSAGES = [
  { text: "cat sun key", without: "dog pan", copied: 4, moved: 5 },
  { text: "dog pan", without: "cat sun key", copied: 0, moved: 0.5 },
];
const META = { text: " key", occurrences: [3], heads: [HEAD], passages: PASSAGES, source: 0, rest: 0 };

/** @param {Partial<Omit<typeof META, "source">> & { source?: number | null }} change */
const words = (change) => {
  const said = sourceWords({ ...META, ...change });
  return said.map((word) => (typeof word === "string" ? word : word.textContent)).join("");
};

test("the source passage of a copying head is named", () => {
  assert.match(words({}), /occurs once .*comes from passage 1: cat sun key\.$/);
  assert.match(words({ occurrences: [3, 6] }), /occurs 2 times/);
});

test("no passage is named if nothing was copied", () => {
  assert.match(words({ occurrences: [], heads: [], source: null }), /does not occur in the text/);
  assert.match(
    words({ heads: [{ ...HEAD, logit: -1 }], source: null }),
    /no head adds 0.05 or more to its logit from there/,
  );
  assert.doesNotMatch(words({ source: null }), /passage/);
});

test("heads and passages are exported as tables", () => {
  const tables = copyingTables(META);
  assert.deepEqual(Object.keys(tables), ["Heads that copied", "Passages of the prompt"]);
  assert.deepEqual(copyingTables({ ...META, heads: [], passages: [] }), {});
});
