// The description of each side's architecture.

import assert from "node:assert/strict";
import { test } from "node:test";
import { partOptions, sideNames } from "../../../app/headlight_app/compare/frontend/controls.ts";

/** @import { Catalog, Question, Variant } from "../../../app/headlight_app/compare/frontend/types.ts" */

const CAUSAL = { masks: "causal", positional_encoding: "rope", attention_function: "softmax", scale: "on" };
const catalog = /** @type {Catalog} */ (
  /** @type {unknown} */ ({
    models: [
      { name: "next", title: "next", trained: CAUSAL },
      { name: "masked", title: "masked", trained: { ...CAUSAL, masks: "none" } },
    ],
    parts: {
      masks: { title: "Mask", names: { none: "Bidirectional", causal: "Causal" } },
      positional_encoding: { title: "Positional encoding", names: { rope: "RoPE", none: "None" } },
    },
    mask_arguments: {},
  })
);

/** @param {Partial<Variant>} [variant] @param {string} [model] */
const question = (variant, model = "next") =>
  /** @type {Question} */ ({ model, variant: { masks: "", positional_encoding: "", ...variant } });

test("another model with a different architecture shows its own parts, not A's", () => {
  const sides = /** @type {[Question, Question]} */ ([question(), question({}, "masked")]);
  const mask = partOptions(catalog, "masks", sides, undefined);
  assert.deepEqual(mask.options[0], ["as A", "Bidirectional · as trained"]);
  assert.deepEqual([mask.chosen, mask.differs], ["as A", true]);
  assert.equal(mask.options.filter(([, title]) => title.startsWith("Bidirectional")).length, 1);
  const encoding = partOptions(catalog, "positional_encoding", sides, undefined);
  assert.deepEqual([encoding.options[0], encoding.differs], [["as A", "as A"], false]);
});

test("a part chosen for A also applies to another model in B", () => {
  const [a, b] = [question({ masks: "none" }), question({ masks: "none" }, "masked")];
  const mask = partOptions(catalog, "masks", [a, b], undefined);
  assert.deepEqual([mask.options[0], mask.chosen, mask.differs], [["as A", "as A"], "as A", false]);
});

test("a part that only B has is chosen and marked as a difference", () => {
  const mask = partOptions(catalog, "masks", [question(), question({ masks: "none" })], "none");
  assert.deepEqual([mask.chosen, mask.differs], ["none", true]);
});

test("sides are named by their models, else by their different parts, else not at all", () => {
  assert.deepEqual(sideNames(catalog, [question(), question({}, "masked")]), ["next", "masked"]);
  const rewired = question({ positional_encoding: "none" }, "masked");
  assert.deepEqual(sideNames(catalog, [question(), rewired]), ["next", "masked · None"]);
  assert.deepEqual(sideNames(catalog, [question(), question({ masks: "none" })]), ["Causal", "Bidirectional"]);
  assert.deepEqual(sideNames(catalog, [question(), question()]), ["", ""]);
});
