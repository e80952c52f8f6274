// The questions of a live page to its worker, which is simulated here.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkerBackend } from "../../../app/headlight_app/live/frontend/page/worker_backend.ts";
import { pack, unpack } from "../../../app/headlight_app/ui/frontend/wire.ts";

const MODEL = { model: "M", weights: new ArrayBuffer(8) };

/** A worker that keeps what it is sent. */
function simulated(/** @type {Promise<typeof MODEL>} */ model = Promise.resolve(MODEL)) {
  /** @type {any[]} */
  const sent = [];
  const worker = /** @type {Worker} */ (
    /** @type {unknown} */ ({ postMessage: (/** @type {any} */ it) => sent.push(it) })
  );
  const backend = new WorkerBackend(worker, ["trace", "head_view"], model);
  const tell = (/** @type {any} */ data) => worker.onmessage?.(/** @type {MessageEvent} */ ({ data }));
  return { sent, backend, worker, tell };
}

test("questions wait until the model is open, and are asked one by one", async () => {
  const { sent, backend, tell } = simulated();
  const [first, second] = [backend.post("trace", { a: 1 }), backend.post("head_view", { b: 2 })];
  await Promise.resolve();
  assert.deepEqual(sent, [{ open: MODEL }]);
  tell({ opened: true });
  assert.deepEqual(sent.slice(1), [{ ask: { route: "trace", body: { a: 1 } } }]);
  tell({ answer: pack({ tokens: "é" }, new Uint8Array([1, 2])) });
  assert.deepEqual(sent.slice(2), [{ ask: { route: "head_view", body: { b: 2 } } }]);
  tell({ problem: "No such head." });
  const { meta, start, buffer } = unpack(await first);
  assert.deepEqual([meta, [...new Uint8Array(buffer, start)]], [{ tokens: "é" }, [1, 2]]);
  await assert.rejects(second, /No such head/);
});

test("a question that was given up is never computed", async () => {
  const { sent, backend, tell } = simulated();
  await Promise.resolve();
  tell({ opened: true });
  const typing = new AbortController();
  const [first, late] = [backend.post("trace", 1), backend.post("trace", 2, typing.signal)];
  const last = backend.post("trace", 3);
  typing.abort();
  await assert.rejects(late, { name: "AbortError" });
  tell({ answer: new ArrayBuffer(0) });
  tell({ answer: new ArrayBuffer(0) });
  await Promise.all([first, last]);
  assert.deepEqual(
    sent.slice(1).map(({ ask }) => ask.body),
    [1, 3],
  );
});

test("a model that does not open is a sentence for every question", async () => {
  const { backend, tell } = simulated();
  const before = backend.post("trace", {});
  tell({ closed: "The file of this model is cut off." });
  await backend.settled;
  await assert.rejects(before, /cut off/);
  await assert.rejects(backend.post("trace", {}), /cut off/);
});

test("a model that does not arrive is a sentence for every question", async () => {
  const { sent, backend } = simulated(Promise.reject(new Error("A file is missing.")));
  await assert.rejects(backend.post("trace", {}), /A file is missing/);
  await assert.rejects(backend.post("trace", {}), /A file is missing/);
  assert.deepEqual(sent, []);
});

test("a route without an answer is known before it is asked", async () => {
  const { backend } = simulated();
  assert.ok(backend.answers("trace") && !backend.answers("analysis") && !backend.answers("constructor"));
  await assert.rejects(backend.post("analysis", {}), /cannot answer/);
});
