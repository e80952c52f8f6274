// The view of a flow: where its edges are, which one is hit, and what is told of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { edgeAt, layoutFlow, squareAt } from "../../../app/headlight_app/ui/frontend/views/flow/layout.ts";

// Texts are measured on a canvas, which Node does not have.
const canvas = { getContext: () => ({ measureText: (/** @type {string} */ text) => ({ width: 50 * text.length }) }) };
Object.assign(globalThis, { document: { createElement: () => canvas } });
const { describeEdge } = await import("../../../app/headlight_app/ui/frontend/views/flow/flow.ts");

/** @import { FlowView } from "../../../app/headlight_app/ui/frontend/views/types.ts" */

/** @type {FlowView} */
const FLOW = {
  ...{ kind: "flow", title: "What flows", note: "3 shares", before: "", tables: null },
  columns: ["The", "sat"],
  rows: ["emb.", "L0"],
  tokens: [
    ["text", 0],
    ["text", 2],
  ],
  kinds: {
    self: { form: "line", words: "Layer {row}: {target} takes {share} from {source} ({note})" },
    residual: { form: "stream", words: "Layer {row}: {target} keeps {share}" },
    feed_forward: { form: "square", words: "Layer {row}: the feed-forward is {share} of {target}" },
    layer_embedding: { form: "second square", words: "" },
  },
  edges: [
    ["self", 0, 0, 1, 0.4, "head 1 25.0 %", { layer: 0, head: 1 }],
    ["residual", 0, 1, 1, 0.5, "", {}],
    ["feed_forward", 0, 1, 1, 0.25, "", {}],
  ],
  ...{ end: 1, end_text: "on 50 %" },
};

test("the squares of a layer's two networks are on opposite sides of the stream, and both can be hit", () => {
  const both = layoutFlow({ ...FLOW, edges: [FLOW.edges[2], ["layer_embedding", 0, 1, 1, 0.25, "", {}]] }, 600);
  const [one, other] = both.edges.map((edge) => squareAt(edge, both));
  assert.equal(one.x + other.x, 2 * both.edges[0].to.x);
  assert.deepEqual([edgeAt(both, one.x, one.y), edgeAt(both, other.x, other.y)], [0, 1]);
});

test("the edge under the pointer is found; a feed-forward's square before its stream", () => {
  const graph = layoutFlow(FLOW, 600);
  const [attention, stream, network] = graph.edges;
  const middle = (stream.from.y + stream.to.y) / 2;
  assert.equal(edgeAt(graph, stream.to.x, stream.from.y + 5), 1);
  assert.equal(edgeAt(graph, (attention.from.x + attention.to.x) / 2, middle), 0);
  const square = squareAt(network, graph);
  assert.equal(edgeAt(graph, square.x, square.y), 2);
  assert.equal(edgeAt(graph, 5, 5), -1);
});

test("an edge is told in the words of its kind, whatever its tokens contain", () => {
  assert.equal(
    describeEdge(FLOW, FLOW.edges[0]),
    "Layer 0: \u2068“sat”\u2069 takes 40.0 % from \u2068“The”\u2069 (head 1 25.0 %)",
  );
  const odd = { ...FLOW, columns: ["{share}", "$&"] };
  assert.equal(
    describeEdge(odd, FLOW.edges[0]),
    "Layer 0: \u2068“$&”\u2069 takes 40.0 % from \u2068“{share}”\u2069 (head 1 25.0 %)",
  );
});
