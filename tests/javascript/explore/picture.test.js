// The diagram from text to prediction: its parts, their views, and the places of a layer's heads.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  headAt,
  isOpen,
  miniatures,
  partChoice,
  pictureRows,
} from "../../../app/headlight_app/explore/frontend/picture/parts.ts";
import { GROUP } from "./page.js";

const CROSS = { ...GROUP, name: "decoder.cross", kind: "cross" };
const ENCODER = { ...GROUP, name: "encoder.self", stack: "encoder", layers: 3 };
const CHOICE = { tab: "heads", layer: 1, analysis: "", neuron: "" };
const ANSWERS = { answers: true, predicts: true };

test("each stack has a row, the encoder first; the prediction ends the last row", () => {
  const [encoder, decoder] = pictureRows([GROUP, CROSS, ENCODER], true, 1);
  assert.deepEqual([encoder.stack, encoder.blocks.length, encoder.prediction], ["encoder", 3, null]);
  assert.deepEqual(
    decoder.blocks[1].parts.map(({ kind, attention }) => `${kind} ${attention}`),
    ["heads decoder.self", "heads decoder.cross", "network decoder.self"],
  );
  assert.equal(decoder.prediction?.kind, "prediction");
  const [bare] = pictureRows([GROUP], false, 0);
  assert.deepEqual(
    bare.blocks[0].parts.map(({ kind }) => kind),
    ["heads"],
  );
});

test("of many layers only those beside the open one are single, and a group opens its nearest layer", () => {
  const [{ blocks }] = pictureRows([{ ...GROUP, layers: 12 }], true, 5);
  assert.deepEqual(
    blocks.map(({ first, last }) => `${first}-${last}`),
    ["0-3", "4-4", "5-5", "6-6", "7-11"],
  );
  assert.deepEqual([blocks[0].parts[0].layer, blocks[4].parts[0].layer], [3, 7]);
});

test("every part opens its view, and is marked while that is open", () => {
  const [{ input, blocks, prediction }] = pictureRows([GROUP], true, 1);
  const parts = [input, ...blocks.flatMap((block) => block.parts), ...(prediction ? [prediction] : [])];
  for (const part of parts) {
    const choice = partChoice(part, ANSWERS);
    assert.ok(choice);
    const open = parts.filter((other) => isOpen(other, { ...CHOICE, ...choice }, choice.attention ?? "decoder.self"));
    assert.deepEqual(open, [part]);
  }
});

test("without an answer the prediction and the networks open nothing", () => {
  const [{ blocks, prediction }] = pictureRows([GROUP], true, 1);
  const [heads, network] = blocks[0].parts;
  const mute = { answers: true, predicts: false };
  assert.deepEqual([prediction && partChoice(prediction, mute), partChoice(network, mute)], [null, null]);
  assert.equal(partChoice(network, { answers: false, predicts: true }), null);
  assert.equal(partChoice(heads, mute)?.tab, "heads");
});

test("the heads of a layer fill their box, and are found under the pointer", () => {
  const layout = miniatures(8, 76, 40);
  assert.deepEqual([layout.columns, layout.rows], [4, 2]);
  assert.ok(layout.columns * (layout.size + layout.gap) - layout.gap <= 76);
  const places = Array.from({ length: 8 }, (_, head) => [
    (head % layout.columns) * (layout.size + layout.gap),
    Math.floor(head / layout.columns) * (layout.size + layout.gap),
  ]);
  assert.deepEqual(
    places.map(([x, y]) => headAt(layout, 8, x, y)),
    [0, 1, 2, 3, 4, 5, 6, 7],
  );
  assert.equal(headAt(layout, 7, 75, 39), null);
  assert.equal(headAt(layout, 8, -1, 0), null);
});
