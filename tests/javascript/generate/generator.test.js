// Writing token by token, with a server that answers at once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Generator } from "../../../app/headlight_app/generate/frontend/generator.ts";
import { Refused } from "../../../app/headlight_app/generate/frontend/server.ts";

/** @import { GenerateState, StepRecord, GeneratedToken } from "../../../app/headlight_app/generate/frontend/types.ts" */

const PROMPT = [{ text: "Once", special: false, space_before: false }];
const END = 9;

/**
 * A server whose model writes 1, 2, 3 and so on; `asked` lists its requests.
 * @param {(generated: readonly GeneratedToken[]) => void} [before] may throw
 */
function counting(before = () => {}) {
  /** @type {number[][]} */
  const asked = [];
  /** @param {GenerateState} state @param {readonly GeneratedToken[]} generated @param {{ tokens?: boolean }} [options] */
  async function fetchStep({ sampling }, generated, options) {
    asked.push(generated.map(({ id }) => id));
    before(generated);
    const next = (generated.at(-1)?.id ?? 0) + 1;
    const text = [...PROMPT, ...generated.map(({ id }) => ({ text: ` ${id}`, special: false, space_before: false }))];
    return /** @type {StepRecord} */ ({
      position: 1 + generated.length,
      chosen: next,
      chosen_text: ` ${next}`,
      end_tokens: [END, 60],
      context: 40,
      length: 1 + generated.length,
      sampling,
      numbers: new Float32Array(),
      tokens: options?.tokens ? { text, source: null } : null,
    });
  }
  return { asked, server: { fetchStep, abort: () => {} } };
}

/** @param {ReturnType<typeof counting>["server"]} server */
function generating(server) {
  /** @type {GenerateState} */
  const state = {
    mode: "continue",
    useCache: true,
    sampling: { temperature: 1, top_k: 0, top_p: 1, seed: 0 },
    settings: {
      model: "tiny",
      variant: { masks: "", positional_encoding: "", attention_function: "", scale: "", pooling: "" },
      device: "cpu",
      measure: "",
    },
    choice: {
      image: "",
      chat: "",
      masked_positions: [],
      edits: [],
      patch_from: "",
      attention: "",
      layer: 0,
      head: 0,
      text: "Once",
      source: "",
      blend: "head",
    },
  };
  /** @type {string[]} */
  const events = [];
  const note = (/** @type {string} */ name) => () => void events.push(name);
  const generator = new Generator(server, () => state, {
    changed: note("changed"),
    answered: note("answered"),
    moved: note("moved"),
    settled: note("settled"),
    taken: (texts) => void events.push(`taken:${texts.join("")}`),
    failed: (error) => void events.push(`failed: ${/** @type {Error} */ (error).message}`),
    waiting: (waiting) => void events.push(waiting ? "waiting" : "ready"),
  });
  generator.speed = 0;
  return { generator, events, state };
}

/** @param {Generator} generator */
const ids = (generator) => generator.generated.map(({ id }) => id);
const steps = (/** @type {number[]} */ generated) =>
  generated.map((id, step) => ({ position: 1 + step, id, text: "…" }));

test("each step takes the sampled token, and is reported once it is answered", async () => {
  const { generator, events } = generating(counting().server);
  await generator.start();
  assert.deepEqual(events, ["waiting", "answered", "ready"]);
  await generator.takeSampled();
  await generator.takeSampled();
  assert.deepEqual(ids(generator), [1, 2]);
  assert.deepEqual(
    generator.tokens.map(({ text }) => text),
    ["Once", " 1", " 2"],
  );
  const told = (/** @type {number} */ token) => ["moved", "changed", "answered", "settled", `taken: ${token}`];
  assert.deepEqual(events.slice(3), [...told(1), ...told(2)]);
});

test("going back sends no request", async () => {
  const { asked, server } = counting();
  const { generator } = generating(server);
  await generator.start();
  await generator.takeSampled();
  await generator.takeSampled();
  const before = asked.length;
  generator.backTo(1);
  assert.deepEqual(ids(generator), [1]);
  assert.equal(asked.length, before);
  assert.equal(generator.branches.length, 1);
});

test("a token from an address gets its text, and earlier steps their answers", async () => {
  const { generator } = generating(counting().server);
  await generator.start(steps([1, 2, 3]));
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(
    generator.generated.map(({ text }) => text),
    [" 1", " 2", " 3"],
  );
  assert.ok([0, 1, 2, 3].every((step) => generator.recordAt(step)));
});

test("tokens that no longer fit are dropped", async () => {
  const { server } = counting((generated) => {
    if (generated.length) throw new Refused("no such place");
  });
  const { generator, events } = generating(server);
  await generator.start(steps([7]));
  assert.deepEqual(ids(generator), []);
  assert.ok(events.includes("answered"));
});

test("a refused request keeps the earlier answers", async () => {
  let broken = false;
  const { server } = counting(() => {
    if (broken) throw new Refused("The text is empty.");
  });
  const { generator, events } = generating(server);
  await generator.start();
  broken = true;
  await generator.start();
  assert.ok(events.includes("failed: The text is empty."));
  assert.ok(generator.newest);
});

test("playing continues to the end of the text", async () => {
  const { generator } = generating(counting().server);
  await generator.start();
  await generator.play();
  assert.equal(generator.generated.at(-1)?.id, END);
  assert.equal(generator.endReason, `The model has ended the text with ${END}.`);
  assert.equal(generator.playing, false);
  assert.equal(await generator.takeSampled(), false);
});

test("a failure ends playing", async () => {
  const { server } = counting((generated) => {
    if (generated.length === 3) throw new Error("lost");
  });
  const { generator, events } = generating(server);
  await generator.start();
  await generator.play();
  assert.equal(generator.playing, false);
  assert.deepEqual(ids(generator), [1, 2, 3]);
  assert.ok(events.includes("failed: lost"));
});

test("an earlier step can be viewed, and another token taken there", async () => {
  const { generator } = generating(counting().server);
  await generator.start(steps([1, 2, 3]));
  assert.equal(await generator.view(1), true);
  assert.equal(generator.step, 1);
  await generator.take(1, { position: 2, id: 50, text: " 50" });
  assert.deepEqual(ids(generator), [1, 50]);
  assert.equal(generator.viewed, null);
});

test("an answer sampled with other settings is requested again", async () => {
  const { generator, state } = generating(counting().server);
  await generator.start();
  state.sampling = { ...state.sampling, temperature: 0 };
  const record = generator.newest;
  assert.ok(record && generator.isOutdated(record));
  await generator.resample();
  assert.ok(generator.newest && !generator.isOutdated(generator.newest));
});

test("only the newest request is answered", async () => {
  const { generator, events } = generating(counting().server);
  await Promise.all([generator.start(), generator.start()]);
  assert.deepEqual(events, ["waiting", "waiting", "answered", "ready"]);
});

for (const [name, act] of /** @type {[string, (generator: Generator) => unknown][]} */ ([
  ["other sampling settings", (generator) => generator.resample()],
  ["a look at an earlier step", (generator) => generator.view(0)],
  ["a token taken", (generator) => generator.take(1, { position: 2, id: 50, text: " 50" })],
  ["a step back", (generator) => generator.backTo(0)],
]))
  test(`a pending request survives ${name}`, async () => {
    const { generator, events } = generating(counting().server);
    await Promise.all([generator.start(steps([1])), act(generator)]);
    await new Promise((resolve) => setTimeout(resolve));
    assert.equal(generator.tokens.length - generator.generated.length, 1);
    assert.ok(generator.newest && generator.record);
    assert.ok(generator.generated.every(({ text }) => text !== "…"));
    assert.equal(events.at(-1) === "waiting" || events.lastIndexOf("waiting") > events.lastIndexOf("ready"), false);
  });

test("playing begins once the pending request is answered", async () => {
  const { generator } = generating(counting().server);
  await Promise.all([generator.start(), generator.play()]);
  assert.equal(generator.generated.at(-1)?.id, END);
});

test("each press takes a word, even while the previous answer is pending", async () => {
  const { generator } = generating(counting().server);
  await generator.start();
  await Promise.all([1, 2, 3, 4, 5].map(() => generator.takeSampled()));
  assert.deepEqual(ids(generator), [1, 2, 3, 4, 5]);
});

test("tokens are reported one by one, and after playing all together", async () => {
  const { generator, events } = generating(counting().server);
  await generator.start();
  await generator.takeSampled();
  await generator.play();
  assert.deepEqual(
    events.filter((event) => event.startsWith("taken")),
    ["taken: 1", "taken: 2 3 4 5 6 7 8 9"],
  );
});
