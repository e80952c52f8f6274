// What is said of each side's wiring.

import assert from "node:assert/strict";
import { test } from "node:test";
import { partOptions, sideNames } from "../../../app/compare/frontend/controls.js";

/** @import { Catalog, Question } from "../../../app/compare/frontend/types.d.ts" */

const CAUSAL = { masks: "causal", positional_encoding: "rope", attention_function: "softmax", scale: "on" };
const catalog = /** @type {Catalog} */ (
  /** @type {unknown} */ ({
    models: [
      { name: "next", title: "next", trained: CAUSAL },
      { name: "masked", title: "masked", trained: { ...CAUSAL, masks: "none" } },
    ],
    options: {
      masks: [
        ["none", "Bidirectional"],
        ["causal", "Causal"],
      ],
      positional_encoding: [
        ["rope", "RoPE"],
        ["none", "None"],
      ],
    },
    fields: [
      ["masks", "Mask"],
      ["positional_encoding", "Positional encoding"],
    ],
    mask_arguments: {},
  })
);

/** @param {Partial<Question>} patch */
const question = (patch) => /** @type {Question} */ ({ model: "next", masks: "", positional_encoding: "", ...patch });

test("another model that is wired otherwise shows its own wiring, not A's", () => {
  const sides = /** @type {[Question, Question]} */ ([question({}), question({ model: "masked" })]);
  const mask = partOptions(catalog, "masks", sides, undefined);
  assert.deepEqual(mask.options[0], ["as A", "Bidirectional · as trained"]);
  assert.deepEqual([mask.chosen, mask.differs], ["as A", true]);
  assert.equal(mask.options.filter(([, title]) => title.startsWith("Bidirectional")).length, 1);
  const encoding = partOptions(catalog, "positional_encoding", sides, undefined);
  assert.deepEqual([encoding.options[0], encoding.differs], [["as A", "as A"], false]);
});

test("a part that A was given goes over to another model", () => {
  const [a, b] = [question({ masks: "none" }), question({ model: "masked", masks: "none" })];
  const mask = partOptions(catalog, "masks", [a, b], undefined);
  assert.deepEqual([mask.options[0], mask.chosen, mask.differs], [["as A", "as A"], "as A", false]);
});

test("what only B has is chosen, and differs", () => {
  const mask = partOptions(catalog, "masks", [question({}), question({ masks: "none" })], "none");
  assert.deepEqual([mask.chosen, mask.differs], ["none", true]);
});

test("sides are called by their models, else by the parts that differ, else by nothing", () => {
  assert.deepEqual(sideNames(catalog, [question({}), question({ model: "masked" })]), ["next", "masked"]);
  const rewired = question({ model: "masked", positional_encoding: "none" });
  assert.deepEqual(sideNames(catalog, [question({}), rewired]), ["next", "masked · None"]);
  assert.deepEqual(sideNames(catalog, [question({}), question({ masks: "none" })]), ["Causal", "Bidirectional"]);
  assert.deepEqual(sideNames(catalog, [question({}), question({})]), ["", ""]);
});
