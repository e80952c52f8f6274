// The requests of Explore: the question from the page's fields, and the details of each request.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ExploreQuestions } from "../../../app/headlight_app/explore/frontend/server.ts";
import { withVariant } from "../../../app/headlight_app/ui/frontend/address.ts";
import { AS_TRAINED } from "../../../app/headlight_app/ui/frontend/contract.ts";
import { Questions } from "../../../app/headlight_app/ui/frontend/questions.ts";
import { packed } from "../packed.js";
import { createPage } from "./page.js";

const VARIANT = { ...AS_TRAINED, scale: "off" };

/** The requests sent from now on. @param {import("node:test").TestContext} context */
function requests(context) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const fetched = context.mock.method(globalThis, "fetch", async () => packed('{"superseded":true}'));
  return () =>
    fetched.mock.calls.map(({ arguments: [address, options] }) => [address, JSON.parse(String(options?.body))]);
}

test("a question has the page's question fields, and nothing of the view", () => {
  const { state } = createPage({ text: "The dog", variant: VARIANT, tab: "layers", query: 1 });
  assert.deepEqual(state.question, {
    image: "",
    text_pair: "",
    chat: "",
    variant: VARIANT,
    device: "cpu",
    measure: "",
    edits: [],
    patch_from: "",
    masked_positions: [],
    model: "tiny",
    text: "The dog",
    source: "",
  });
});

test("only a change of the question or its query causes a new request", () => {
  const { state } = createPage();
  assert.ok(state.asks({ variant: VARIANT }) && state.asks({ query: 1 }) && state.asks({ edits: [] }));
  assert.ok(!state.asks({ tab: "layers", head: 1, key: 2 }));
});

test("requests for all heads are numbered, and only the newest is answered", async (context) => {
  const sent = requests(context);
  const { state } = createPage({ text: "The dog" });
  assert.equal(await new Questions("/api").ask("trace", state.traceRequest), null);
  const [[address, { client_id, ...request }]] = sent();
  assert.equal(address, "/api/trace");
  assert.match(client_id, /^[\da-f]+$/);
  assert.deepEqual(request, { question: state.question, query: -1, writes_target: false, request_number: 1 });
});

test("other requests are about the answer on the screen, with details beside the question", (context) => {
  const sent = requests(context);
  const { state } = createPage({ text: "The dog sits" });
  const server = new ExploreQuestions("/api", state, () => {});
  assert.equal(server.get("input_vectors", {}), null);
  assert.equal(server.get("layer_numbers", { query: 2 }), null);
  context.mock.timers.tick(1);
  const { question } = state.answer;
  assert.equal(question.text, "The dog sat");
  assert.deepEqual(sent(), [
    ["/api/input_vectors", { question }],
    ["/api/layer_numbers", { question, query: 2 }],
  ]);
});

test("a state saved by an earlier version keeps its variant", () => {
  const saved = { text: "The dog", masks: "none", scale: "off" };
  assert.deepEqual(withVariant(saved).variant, { masks: "none", scale: "off" });
  assert.deepEqual(withVariant({ text: "", variant: VARIANT }).variant, VARIANT);
});
