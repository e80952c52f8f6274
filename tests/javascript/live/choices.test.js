// The choices of a live page, from links and files.

import assert from "node:assert/strict";
import { test } from "node:test";
import { filled, fitting, readLink } from "../../../app/headlight_app/live/frontend/page/choices.ts";

/** @import { Rules } from "../../../app/headlight_app/live/frontend/page/choices.ts" */

const POSITION = /** @type {const} */ ({ type: "integer", minimum: 0, maximum: 99 });
/** @type {Rules} */
const RULES = {
  state: {
    text: { anyOf: [{ type: "string", maxLength: 12 }, { type: "null" }] },
    layer: { type: "integer", minimum: -1, maximum: 99 },
    head: { type: "integer", minimum: -1, maximum: 99 },
    edits: { type: "array", items: { type: "string", maxLength: 9 }, maxItems: 3 },
    pinned: { type: "array", items: POSITION },
    presenter: { type: "string", pattern: "^(|1)$" },
    plot: { type: "string", enum: ["", "lines"] },
  },
  variant: { masks: { type: "string" }, scale: { type: "string", pattern: "^(|on|off)$" } },
};
const VARIANT = { masks: "", positional_encoding: "", attention_function: "", scale: "", pooling: "" };
const OPENING = /** @type {Parameters<typeof filled>[1]} */ (
  /** @type {unknown} */ ({
    opening: { text: "the cat", source: "" },
    opening_head: [5, 5],
    default_head: [0, 1],
    default_attention: "decoder.self",
    settings: { model: "stories" },
    trained: { ...VARIANT, masks: "causal", scale: "on" },
  })
);

test("a link gives the choices that it names", () => {
  const link = "text=a+%26+b&layer=3&edits=p%3D1%3Bq%3D2&pinned=7%3B2%3B7&presenter=1&plot=lines&masks=none";
  assert.deepEqual(readLink(link, RULES), {
    text: "a & b",
    layer: 3,
    edits: ["p=1", "q=2"],
    pinned: [2, 7],
    presenter: "1",
    plot: "lines",
    variant: { masks: "none" },
  });
});

test("unknown names and wrong values of a link count as absent", () => {
  const wrong = [
    ...["__proto__=1", "constructor=2", "nothing=3", "text=longer+than+twelve", "layer=1.5", "layer=-7", "head=1e1"],
    ...["edits=1;2;3;4", "edits=much+too+long", "pinned=1;x", "pinned=-1", "presenter=2", "plot=sphere", "scale=maybe"],
  ];
  for (const parameter of wrong) assert.deepEqual(readLink(parameter, RULES), { variant: {} }, parameter);
});

test("what a file names is checked as a link is", () => {
  const given = { text: null, layer: "3", head: 2, edits: [1], pinned: [4, 2], variant: { masks: "none", scale: 7 } };
  assert.deepEqual(fitting(given, RULES), { text: null, head: 2, pinned: [4, 2], variant: { masks: "none" } });
  assert.deepEqual(fitting({ text: "\ud800" }, RULES), {});
});

test("a page opens with its first text and the head that shows something in it", () => {
  const told = filled({}, OPENING);
  assert.deepEqual([told.text, told.layer, told.head, told.attention], ["the cat", 5, 5, "decoder.self"]);
  assert.ok(!("model" in told));
  const typed = filled({ text: "a dog" }, OPENING);
  assert.deepEqual([typed.text, typed.layer, typed.head], ["a dog", 0, 1]);
  assert.deepEqual([filled({ head: 2 }, OPENING).layer, filled({ head: 2 }, OPENING).head], [0, 2]);
});

test("a part that is chosen as it was trained counts as not chosen", () => {
  const { variant } = filled({ variant: { masks: "causal", scale: "off" } }, OPENING);
  assert.deepEqual(variant, { ...VARIANT, scale: "off" });
});
