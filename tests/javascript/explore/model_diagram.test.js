// A model as a diagram: the places of its parts, and their links.

import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutDiagram } from "../../../app/headlight_app/ui/frontend/model_diagram/diagram_layout.ts";
import { entranceChoice } from "../../../app/headlight_app/ui/frontend/model_diagram/entrances.ts";
import { layerRuns } from "../../../app/headlight_app/ui/frontend/model_diagram/layer_runs.ts";

/** @import { DiagramPart, StackDiagram } from "../../../app/headlight_app/ui/frontend/model_diagram/types.ts" */

/** @param {string} kind @param {number[]} [shape] @returns {DiagramPart} */
const part = (kind, shape = [7, 16]) => ({ kind, title: kind, details: ["detail"], shape });

/** @param {Partial<StackDiagram>} [more] @returns {StackDiagram} */
function stack(more = {}) {
  const sublayer = (/** @type {string} */ kind) => ({
    kind,
    parts: [part("norm"), part(kind)],
    added: true,
    norm: null,
    norm_on_stream: /** @type {const} */ (""),
  });
  return {
    name: "decoder",
    title: "Decoder",
    inputs: [part("input"), part("embedding")],
    positions: null,
    after_positions: [],
    layers: 3,
    layer: 1,
    sublayers: [sublayer("self"), sublayer("feed_forward")],
    parallel: false,
    outputs: [part("norm")],
    residual_shape: [7, 16],
    ...more,
  };
}

const HEAD = [part("output", [7, 100])];
const CROSS = {
  kind: "cross",
  parts: [part("cross")],
  added: true,
  norm: null,
  norm_on_stream: /** @type {const} */ (""),
};
const BOTH = { stacks: [stack({ name: "encoder" }), stack({ sublayers: [stack().sublayers[0], CROSS] })], head: HEAD };

test("few layers have a bar each; many are grouped around the open one", () => {
  assert.deepEqual(layerRuns(3, 1), [
    [0, 0],
    [1, 1],
    [2, 2],
  ]);
  assert.deepEqual(layerRuns(12, 5), [
    [0, 3],
    [4, 4],
    [5, 5],
    [6, 6],
    [7, 11],
  ]);
  assert.deepEqual(layerRuns(12, 0), [
    [0, 0],
    [1, 1],
    [2, 11],
  ]);
  for (const open of [0, 1, 6, 10, 11]) {
    const covered = layerRuns(12, open).flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, place) => first + place),
    );
    assert.deepEqual(covered, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  }
});

test("parts are stacked from the input to the answer, within the width", () => {
  for (const width of [330, 900]) {
    const { boxes, width: wide, height } = layoutDiagram({ stacks: [stack()], head: HEAD }, width);
    assert.deepEqual(
      boxes.map((box) => box.part.kind),
      ["input", "embedding", "layer", "open", "norm", "self", "norm", "feed_forward", "layer", "norm", "output"],
    );
    assert.ok(wide <= width);
    boxes.slice(1).forEach((box, place) => {
      assert.ok(box.y >= boxes[place].y + boxes[place].height);
    });
    assert.ok(boxes.every((box) => box.x >= 0 && box.x + box.width <= wide && box.y + box.height <= height));
  }
});

test("every branch ends in a sum, except those that replace the stream", () => {
  assert.deepEqual(
    layoutDiagram({ stacks: [stack()], head: [] }, 600).sums.map(({ kind }) => kind),
    ["self", "feed_forward"],
  );
  const sublayers = stack().sublayers.map((sublayer) => ({ ...sublayer, added: false }));
  assert.equal(layoutDiagram({ stacks: [stack({ sublayers })], head: [] }, 600).sums.length, 0);
  const added = layoutDiagram({ stacks: [stack({ positions: part("positions") })], head: [] }, 600);
  assert.equal(added.sums[0].kind, "positions");
});

test("branches of a parallel block leave the stream at the same place", () => {
  const starts = (/** @type {boolean} */ parallel) =>
    layoutDiagram({ stacks: [stack({ parallel })], head: [] }, 600)
      .lines.filter(({ points, arrow }) => arrow && points.length > 4 && points.at(-1) !== points.at(-3))
      .map(({ points }) => points[1]);
  assert.equal(new Set(starts(true)).size, 1);
  assert.equal(new Set(starts(false)).size, 2);
});

test("an encoder is beside its decoder if there is room, and is connected to its cross-attention", () => {
  for (const [width, beside] of /** @type {[number, boolean][]} */ ([
    [340, false],
    [900, true],
  ])) {
    const { boxes, lines, width: wide } = layoutDiagram(BOTH, width);
    const [encoder, decoder] = ["encoder", "decoder"].map((name) => boxes.filter((box) => box.stack === name));
    const [end, start] = [Math.max(...encoder.map(({ y }) => y)), Math.min(...decoder.map(({ y }) => y))];
    assert.equal(start < end, beside);
    const memory = lines.filter((line) => line.memory);
    assert.equal(memory.length, 1);
    const cross = decoder.find((box) => box.part.kind === "cross");
    assert.ok(cross && memory[0].points.at(-1) === cross.y + cross.height / 2);
    assert.ok(memory[0].points.every((number, place) => place % 2 || (number >= 0 && number <= wide)));
  }
});

test("a part links to its detailed view", () => {
  const answer = /** @type {Parameters<typeof entranceChoice>[0]} */ ({ predictions: [{}] });
  const choice = (/** @type {string} */ kind, stackName = "decoder", layer = 0, given = answer) =>
    entranceChoice(given, BOTH, { kind, stack: stackName, layer })?.choice;
  assert.deepEqual(choice("layer", "decoder", 2), { layer: 2, heads: [] });
  assert.deepEqual(choice("cross"), { tab: "heads", attention: "decoder.cross", layer: 1, heads: [] });
  assert.deepEqual(choice("self", "encoder"), { tab: "heads", attention: "encoder.self", layer: 1, heads: [] });
  assert.equal(choice("embedding")?.tab, "walkthrough");
  assert.deepEqual(choice("final_norm"), { tab: "walkthrough", attention: "decoder.self", step: "final-norm" });
  assert.equal(choice("final_norm", "encoder"), undefined, "the encoder's output has no predictions");
  assert.equal(choice("positions"), null, "it has its own page");
  assert.deepEqual(choice("output"), { tab: "layers", analysis: "logit_lens" });
  assert.deepEqual(choice("feed_forward"), { tab: "layers", analysis: "logit_attribution" });
  assert.equal(choice("feed_forward", "encoder"), undefined, "Layers is about the stack that answers");
  assert.equal(choice("feed_forward", "decoder", 0, { predictions: [] }), undefined);
  assert.equal(choice("input"), undefined);
});
