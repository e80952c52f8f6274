// The panels of "Layers" and the walkthrough, computed from the server's numbers.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  edgeAt,
  flowColumns,
  layoutFlow,
  readEdges,
  squareAt,
} from "../../../app/headlight_app/explore/frontend/layers/information_flow/flow_layout.js";
import { depthLabel } from "../../../app/headlight_app/explore/frontend/layers/layer_panel.js";
import { wholeColumns } from "../../../app/headlight_app/explore/frontend/layers/scrolling.js";
import { componentName } from "../../../app/headlight_app/explore/frontend/prediction/why.js";
import { splitValues } from "../../../app/headlight_app/explore/frontend/walkthrough/walkthrough.js";
import { token } from "./page.js";

/** @import { InformationFlowAnswer } from "../../../app/headlight_app/explore/frontend/types.js" */

/** @param {string} kind @param {number} layer @param {number} head @param {number} value */
const part = (kind, layer, head, value) => ({ kind, layer, head, value });
const PARTS = [
  part("embedding", -1, -1, 0),
  part("positions", -1, -1, 0),
  part("self", 0, 0, 1),
  part("self", 0, 1, -2),
  part("feed_forward", 0, -1, 3),
  part("bias", 0, -1, 0),
  part("bias", -1, -1, 0.5),
  part("edit", -1, -1, 0),
];

test("an axis and the rows count layers in the same way", () => {
  assert.deepEqual([0, 1, 6].map(depthLabel), ["emb.", "L0", "L5"]);
});

test("each part has a name", () => {
  assert.deepEqual(PARTS.map(componentName), [
    "Token embedding",
    "Added positions",
    "Layer 0, head 0",
    "Layer 0, head 1",
    "Layer 0, feed-forward",
    "Layer 0, biases",
    "Biases of embedding and answer",
    "Edits of the stream",
  ]);
  assert.equal(componentName(part("cross", 1, 2, 0)), "Layer 1, cross head 2");
  assert.equal(componentName(part("layer_embedding", 1, -1, 0)), "Layer 1, layer embedding");
});

const FLOW = {
  meta: /** @type {InformationFlowAnswer} */ ({
    edges: 3,
    columns: 9,
    edge_kinds: ["self", "residual", "feed_forward", "cross"],
    layers: 1,
    position: 2,
    threshold: 0.1,
  }),
  numbers: new Float32Array(
    [
      [0, 0, 2, 0, 0.4, 1, 0.25, 0, 0.125],
      [0, 1, 2, 2, 0.5, -1, -1, -1, -1],
      [0, 2, 2, 2, 0.25, -1, -1, -1, -1],
    ].flat(),
  ),
};

/** A flow through two of a text's three tokens. */
function layout() {
  const edges = readEdges(FLOW);
  return layoutFlow(edges, flowColumns(edges, 2, ["The", " dog", " sat"].map(token), null), {
    layers: 1,
    width: 600,
    type: 1,
  });
}

test("edges list heads with their shares, without a row's padding", () => {
  const [attention, stream] = readEdges(FLOW);
  assert.deepEqual(attention.heads, [
    { head: 1, share: 0.25 },
    { head: 0, share: 0.125 },
  ]);
  assert.deepEqual([attention.kind, attention.target, attention.source], ["self", 2, 0]);
  assert.deepEqual(stream.heads, []);
});

test("the squares of a layer's two networks are on opposite sides of the stream, and both can be hit", () => {
  const found = layout();
  const [network] = found.edges.filter(({ kind }) => kind === "feed_forward");
  const embedding = { ...network, kind: "layer_embedding" };
  const both = { ...found, edges: [network, embedding] };
  const [one, other] = both.edges.map((edge) => squareAt(edge, both));
  assert.equal(one.x + other.x, 2 * network.to.x);
  assert.deepEqual([edgeAt(both, one.x, one.y), edgeAt(both, other.x, other.y)], [0, 1]);
});

test("each token with an edge has a column, source tokens first", () => {
  assert.deepEqual(
    layout().columns.map(({ label }) => label),
    ["The", "sat"],
  );
  const cross = [{ layer: 0, kind: "cross", target: 1, source: 0, share: 0.5, heads: [] }];
  const columns = flowColumns(cross, 1, ["Le", " chat"].map(token), [token("The")]);
  assert.deepEqual(
    columns.map(({ side, position, label }) => [side, position, label]),
    [
      ["source", 0, "The"],
      ["text", 1, "chat"],
    ],
  );
});

test("the edge under the pointer is found; a feed-forward's square before its stream", () => {
  const graph = layout();
  const [attention, stream, feedforward] = graph.edges;
  const middle = (stream.from.y + stream.to.y) / 2;
  assert.equal(edgeAt(graph, stream.to.x, stream.from.y + 5), 1);
  assert.equal(edgeAt(graph, (attention.from.x + attention.to.x) / 2, middle), 0);
  const square = squareAt(feedforward, graph);
  assert.equal(edgeAt(graph, square.x, square.y), 2);
  assert.equal(edgeAt(graph, 5, 5), -1);
});

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
