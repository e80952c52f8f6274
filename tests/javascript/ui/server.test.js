// Questions to the server: requests, answers and errors.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Questions, showProblem } from "../../../app/headlight_app/ui/frontend/questions.ts";
import { clientId, failureText, isAbort, post } from "../../../app/headlight_app/ui/frontend/server.ts";
import { packed } from "../packed.js";

/** @import { CompareRequest } from "../../../app/headlight_app/compare/frontend/contract.ts" */
/** @import { TraceRequest } from "../../../app/headlight_app/explore/frontend/contract.ts" */

const EMPTY = '{"error":"B: The text is empty."}';
const REQUEST = /** @type {CompareRequest} */ ({ alignment: "tokens", query: -1 });
const TRACE = /** @type {TraceRequest} */ ({ query: -1 });

const fail = () => assert.fail("the server answers");

test("a question is JSON, sent to the route", async (context) => {
  const fetched = context.mock.method(globalThis, "fetch", async () => packed('{"ok":1}'));
  const { meta } = await post("/base/api", "trace", { text: "We eat" });
  assert.deepEqual(meta, { ok: 1 });
  const [address, options] = fetched.mock.calls[0].arguments;
  assert.equal(address, "/base/api/trace");
  assert.deepEqual([options?.method, options?.body], ["POST", '{"text":"We eat"}']);
});

test("an answer of another type becomes an error sentence", async (context) => {
  context.mock.method(
    globalThis,
    "fetch",
    async () => new Response("<html>", { headers: { "Content-Type": "text/html" } }),
  );
  await assert.rejects(post("/api", "trace", {}), /Reload the page/);
});

test("a lost server and an error have a message; an aborted question has none", () => {
  assert.match(failureText(new TypeError("Failed to fetch")), /does not answer/);
  assert.equal(failureText(new Error("The text is too long.")), "The text is too long.");
  assert.ok(isAbort(new DOMException("gone", "AbortError")));
  assert.ok(!isAbort(new Error("AbortError")));
});

test("each page has its own id", () => {
  assert.match(clientId(), /^[\da-f]{1,24}$/);
  assert.notEqual(clientId(), clientId());
});

test("a refused question returns the reason", async (context) => {
  context.mock.method(globalThis, "fetch", async () => packed(EMPTY));
  const questions = new Questions("/api");
  assert.deepEqual(await questions.ask("compare", REQUEST, fail), { problem: "B: The text is empty." });
  assert.equal(questions.isAsking, false);
});

test("of two questions only the newer one is answered", async (context) => {
  context.mock.method(globalThis, "fetch", async () => packed(EMPTY));
  const questions = new Questions("/api");
  const both = [questions.ask("compare", REQUEST, fail), questions.ask("compare", REQUEST, fail)];
  assert.equal(questions.isAsking, true);
  assert.deepEqual(
    (await Promise.all(both)).map((found) => found === null),
    [true, false],
  );
  assert.equal(questions.number, 2);
});

test("a question that was stopped or superseded has no answer", async (context) => {
  const fetched = context.mock.method(globalThis, "fetch", async () => packed('{"superseded":true}'));
  const questions = new Questions("/api");
  assert.equal(await questions.ask("trace", TRACE), null);
  assert.equal(questions.isAsking, false);
  fetched.mock.mockImplementation(async () => packed('{"ok":1}'));
  const late = questions.ask("trace", TRACE);
  questions.stop();
  assert.equal(await late, null);
});

test("without a server, a question returns “does not answer”", async (context) => {
  context.mock.method(globalThis, "fetch", async () => {
    throw new TypeError("Failed to fetch");
  });
  const found = await new Questions("/api").ask("compare", REQUEST);
  assert.ok(found && "problem" in found);
  assert.match(found.problem, /does not answer/);
});

test("a problem is shown above an older answer until a new one arrives", () => {
  let stale = false;
  const classList = { toggle: (/** @type {string} */ _, /** @type {boolean} */ on) => (stale = on) };
  const element = () => ({ hidden: true, textContent: "29 ms", classList, replaceChildren: () => {} });
  const elements = { problem: element(), answer: element(), status: element() };
  const page = /** @type {Record<keyof typeof elements, HTMLElement>} */ (/** @type {unknown} */ (elements));
  showProblem(page, "The text is empty.");
  assert.deepEqual([elements.problem.hidden, elements.status.textContent, stale], [false, "", true]);
  showProblem(page, "");
  assert.deepEqual([elements.problem.hidden, elements.answer.hidden, stale], [true, false, false]);
});

test("a question lost by the network is reported, and sent again until it is answered", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { mock } = context.mock.method(globalThis, "fetch", async () => packed(EMPTY));
  const lose = async () => {
    throw new TypeError("Failed to fetch");
  };
  for (const attempt of [0, 1]) mock.mockImplementationOnce(lose, attempt);
  /** @type {string[]} */
  const said = [];
  const asked = new Questions("/api").ask("compare", REQUEST, (sentence) => said.push(sentence));
  for (const [attempt, pause] of [500, 1000].entries()) {
    await new Promise(setImmediate);
    assert.equal(mock.callCount(), attempt + 1);
    context.mock.timers.tick(pause);
  }
  assert.deepEqual(await asked, { problem: "B: The text is empty." });
  assert.deepEqual(said.length, 2);
  assert.match(said[0], /does not answer/);
});

test("the wait for other users is reported after a second, until the answer arrives", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const sentence = "40 people are asking; yours in about 2 s.";
  /** @type {(response: Response) => void} */
  let answer = fail;
  const fetched = context.mock.method(globalThis, "fetch", async (/** @type {string} */ address) =>
    address.endsWith("/waiting")
      ? packed(JSON.stringify({ sentence }))
      : new Promise((resolve) => {
          answer = resolve;
        }),
  );
  /** @type {string[]} */
  const told = [];
  const asked = new Questions("/api").ask("trace", TRACE, fail, (said) => told.push(said));
  await settled();
  for (const [milliseconds, count] of [
    [900, 0],
    [100, 1],
    [1900, 1],
    [100, 2],
  ]) {
    context.mock.timers.tick(milliseconds);
    await settled();
    assert.deepEqual(told, Array(count).fill(sentence));
  }
  answer(packed('{"ok":1}'));
  await asked;
  context.mock.timers.tick(10_000);
  await settled();
  assert.equal(told.length, 2);
  assert.equal(fetched.mock.callCount(), 3);
});
