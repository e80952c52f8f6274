// The address contains the learner's changed inputs, and nothing else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { resizedAxes, resizedTogether } from "../../../app/headlight_app/course/frontend/controls/matrix_table.ts";
import { ChangedInputs, encodeInputs, isInvalid } from "../../../app/headlight_app/course/frontend/inputs.ts";
import { screenRequest } from "../../../app/headlight_app/course/frontend/screen.ts";
import { largestSize } from "../../../app/headlight_app/ui/frontend/charts/charts.ts";
import { formatFixed } from "../../../app/headlight_app/ui/frontend/dom/numbers.ts";
import { placeNames } from "../../../app/headlight_app/ui/frontend/views/plane/arrows.ts";
import { namesTogether } from "../../../app/headlight_app/ui/frontend/views/plane/moving_points.ts";
import { placeLabels } from "../../../app/headlight_app/ui/frontend/views/plane/points.ts";

/** @import { MatrixControl, ScreenRow } from "../../../app/headlight_app/course/frontend/contract.ts" */

const SCREEN = /** @type {ScreenRow} */ (
  /** @type {unknown} */ ({
    name: "look-up",
    controls: [
      { name: "keys", default: "1,0;0,1" },
      { name: "text", default: "the cat" },
    ],
  })
);

test("changed inputs are restored from the address", () => {
  const inputs = new ChangedInputs();
  inputs.change(SCREEN, { keys: "1,2;3,4", text: "a & b = c; ü" });
  const again = new ChangedInputs(inputs.encode());
  assert.deepEqual(again.all(SCREEN), { keys: "1,2;3,4", text: "a & b = c; ü" });
});

test("a link to a screen contains the given inputs", () => {
  const encoded = encodeInputs(new Map([["look-up", { text: "a & b", keys: "1,2;3,4" }]]));
  assert.deepEqual(new ChangedInputs(encoded).all(SCREEN), { keys: "1,2;3,4", text: "a & b" });
  assert.equal(encodeInputs(new Map([["look-up", {}]])), "");
});

test("unchanged inputs are not in the address", () => {
  const inputs = new ChangedInputs("look-up.keys=9,9;9,9&nonsense=1");
  inputs.change(SCREEN, { keys: "1,0;0,1" });
  assert.equal(inputs.encode(), "");
  assert.deepEqual(inputs.all(SCREEN), { keys: "1,0;0,1", text: "the cat" });
});

test("a layer that another model lacks becomes its last one, and a typed layer stays", () => {
  const screen = /** @type {ScreenRow} */ (
    /** @type {unknown} */ ({
      name: "head",
      controls: [
        { name: "model", kind: "model", default: "large" },
        { name: "layer", kind: "part", part: "layer", default: "2" },
      ],
    })
  );
  const models = [
    { name: "large", title: "", suits: [], parts: { layer: 6 } },
    { name: "small", title: "", suits: [], parts: { layer: 1 } },
  ];
  const inputs = new ChangedInputs("head.model=small", models);
  assert.deepEqual(inputs.all(screen), { model: "small", layer: "0" }, "the start value");
  inputs.change(screen, { model: "large" });
  inputs.change(screen, { layer: "5" });
  inputs.change(screen, { model: "small" });
  assert.equal(inputs.encode(), "head.layer=0&head.model=small", "what was chosen before");
  inputs.change(screen, { layer: "3" });
  assert.deepEqual(inputs.all(screen), { model: "small", layer: "3" }, "the typed value is kept and reported");
  inputs.change(screen, { model: "unknown" });
  assert.equal(inputs.all(screen).layer, "3");
});

test("for an uploaded file the address contains only “own”", () => {
  const screen = /** @type {ScreenRow} */ (
    /** @type {unknown} */ ({ name: "sound", controls: [{ name: "recording", kind: "recording", default: "" }] })
  );
  const inputs = new ChangedInputs();
  inputs.change(screen, { recording: "own-secret" });
  assert.equal(inputs.encode(), "sound.recording=own");
  assert.deepEqual(inputs.all(screen), { recording: "own-secret" }, "for its owner");
});

test("a screen's request lists its inputs that name models and files", () => {
  const controls = [
    { name: "model", kind: "model" },
    { name: "other", kind: "model" },
    { name: "sound", kind: "recording" },
    { name: "text", kind: "text" },
  ];
  const screen = /** @type {ScreenRow} */ (/** @type {unknown} */ ({ name: "compare", controls }));
  const inputs = { model: "upload-mine", other: "next", sound: "own-1", text: "the cat" };
  assert.deepEqual(screenRequest(screen, inputs), {
    screen: "compare",
    inputs,
    model_inputs: ["model", "other"],
    file_inputs: ["sound"],
  });
});

test("matrices that share an axis grow together", () => {
  const [tokens, channels, outputs] = ["tokens", "channels", "outputs"].map((name) => ({
    name,
    least: 1,
    most: 6,
    labels: [],
  }));
  const common = { kind: /** @type {const} */ ("matrix"), title: "", default: "", when: "", switches: false };
  /** @type {MatrixControl[]} */
  const matrices = [
    { ...common, name: "k", rows: tokens, columns: channels },
    { ...common, name: "v", rows: tokens, columns: outputs },
  ];
  assert.deepEqual(
    [...resizedAxes(matrices)].map(([name, axes]) => [name, axes.map((axis) => axis.name)]),
    [
      ["k", ["tokens", "channels"]],
      ["v", ["outputs"]],
    ],
    "each axis has its buttons once",
  );
  const texts = { k: "1,2;3,4", v: "5;6" };
  assert.deepEqual(resizedTogether(matrices, texts, tokens, 1), { k: "1,2;3,4;0,0", v: "5;6;0" });
  assert.deepEqual(resizedTogether(matrices, texts, channels, -1), { k: "1;3", v: "5;6" });
});

test("names are beside their points, cover no other name and stay within the sheet", () => {
  const [right, left, below] = placeLabels(
    [10, 12, 14].map((top) => ({ words: "", left: 100, top, width: 40 })),
    300,
  );
  assert.deepEqual([right.left, right.top], [108, 14]);
  assert.deepEqual([left.left, left.top], [52, 16]);
  assert.equal(below.left, 108);
  assert.ok(below.top - right.top >= 13);
  assert.ok(placeLabels([{ words: "", left: 290, top: 10, width: 40 }], 300)[0].left < 290);
  const [name] = placeLabels(
    [100, 125].map((left) => ({ words: "", left, top: 50, width: 40 })),
    300,
  );
  assert.ok(name.left + name.width < 120 || Math.abs(name.top - 54) >= 13, "it does not cover the other point");
});

test("names of close arrows are apart and beyond the tips", () => {
  const tips = [0.5, 0.6, 0.7, 0.8, 0.9].map((turn) => {
    const [left, top] = [160 + 120 * Math.cos(turn), 160 - 120 * Math.sin(turn)];
    return { words: "", left, top, width: 15 };
  });
  const names = placeNames(tips, 320);
  names.forEach(({ left, top, width }, index) => {
    for (const other of names.slice(0, index))
      assert.ok(Math.abs(other.top - top) >= 13 || Math.abs(other.left - left) >= width, "no name covers another one");
    assert.ok(Math.hypot(left + width / 2 - 160, top - 4 - 160) > 120, "no name is among the arrows");
    assert.ok(left >= 0 && left + width <= 320);
  });
});

test("numbers are formatted for reading", () => {
  assert.deepEqual(
    [1, -0.5, 0.123, "-Infinity", "NaN", 0, -0.001].map((value) => formatFixed(value, 2)),
    ["1", "−0.50", "0.12", "−∞", "NaN", "0", "0.00"],
  );
  assert.deepEqual(
    [0.99999994, -1.0000001, 0.999, 1e-9, 294_912, -16_384, 1e12, 123_456.7].map((value) => formatFixed(value, 2)),
    ["1", "−1", "1.00", "0.00", "294,912", "−16,384", "1.00·10¹²", "1.23·10⁵"],
  );
  assert.equal(largestSize([0, "-Infinity", -3, 2]), 3);
  assert.equal(largestSize([]), 1);
});

test("a field without a number, or with one outside its limits, is invalid", () => {
  for (const text of ["", "two", "1/2", "NaN"]) assert.ok(isInvalid(text), text);
  for (const text of ["0", "-1.5", "−2", "1e3"]) assert.ok(!isInvalid(text), text);
  assert.ok(isInvalid("9", { low: 0, high: 8 }) && !isInvalid("8", { low: 0, high: 8 }));
});

test("the names of points in the same place are beside the first of them", () => {
  const points = /** @type {[number, number][]} */ ([
    [1, 0],
    [2, 0],
    [1, 0],
  ]);
  assert.deepEqual(namesTogether(["q", "output", "k"], points), ["q, k", "output", ""]);
});
