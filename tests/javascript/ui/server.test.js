// Questions to the server: what is sent, what comes back, and what a failure says.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CompareServer } from "../../../app/compare/frontend/server.js";
import { clientId, failureText, isAbort, post } from "../../../app/ui/frontend/server.js";

/** @import { CompareRequest } from "../../../app/compare/frontend/types.d.ts" */

const EMPTY = '{"error":"B: The text is empty."}';
const REQUEST = /** @type {CompareRequest} */ ({ alignment: "tokens", query: -1 });

/** A packed answer. @param {string} meta */
function packed(meta) {
  const text = new TextEncoder().encode(meta.padEnd(Math.ceil((meta.length + 4) / 4) * 4 - 4));
  const body = new Uint8Array(4 + text.length);
  new DataView(body.buffer).setUint32(0, text.length, true);
  body.set(text, 4);
  return new Response(body, { headers: { "Content-Type": "application/octet-stream" } });
}

test("a question is JSON, sent to the route", async (context) => {
  const fetched = context.mock.method(globalThis, "fetch", async () => packed('{"ok":1}'));
  const { meta } = await post("/base/api", "trace", { text: "We eat" });
  assert.deepEqual(meta, { ok: 1 });
  const [address, options] = fetched.mock.calls[0].arguments;
  assert.equal(address, "/base/api/trace");
  assert.deepEqual([options?.method, options?.body], ["POST", '{"text":"We eat"}']);
});

test("an answer of another kind is a sentence", async (context) => {
  context.mock.method(
    globalThis,
    "fetch",
    async () => new Response("<html>", { headers: { "Content-Type": "text/html" } }),
  );
  await assert.rejects(post("/api", "trace", {}), /Reload the page/);
});

test("a lost server and an error have words; an aborted question has none", () => {
  assert.match(failureText(new TypeError("Failed to fetch")), /does not answer/);
  assert.equal(failureText(new Error("The text is too long.")), "The text is too long.");
  assert.ok(isAbort(new DOMException("gone", "AbortError")));
  assert.ok(!isAbort(new Error("AbortError")));
});

test("each page has a name of its own", () => {
  assert.match(clientId(), /^[\da-f]{1,24}$/);
  assert.notEqual(clientId(), clientId());
});

test("a comparison that is refused says why", async (context) => {
  context.mock.method(globalThis, "fetch", async () => packed(EMPTY));
  const server = new CompareServer("/api");
  assert.deepEqual(await server.compare(REQUEST), { problem: "B: The text is empty." });
  assert.equal(server.waiting, false);
});

test("of two comparisons only the newer one is answered", async (context) => {
  context.mock.method(globalThis, "fetch", async () => packed(EMPTY));
  const server = new CompareServer("/api");
  const both = [server.compare(REQUEST), server.compare(REQUEST)];
  assert.equal(server.waiting, true);
  assert.deepEqual(
    (await Promise.all(both)).map((result) => result === null),
    [true, false],
  );
});

test("a comparison without a server says that it does not answer", async (context) => {
  context.mock.method(globalThis, "fetch", async () => {
    throw new TypeError("Failed to fetch");
  });
  const result = await new CompareServer("/api").compare(REQUEST);
  assert.ok(result && "problem" in result);
  assert.match(result.problem, /does not answer/);
});
