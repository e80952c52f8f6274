// The places of a room: what a student may name, and how often the server is asked about it.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Places } from "../../../app/headlight_app/room/frontend/places.ts";

const DESCRIBER = { title: async () => "Screen", question: async () => null };

test("a place that is named as a property of every object is an unknown one", async () => {
  const places = new Places("/api", [], new Map([["course", DESCRIBER]]));
  assert.equal(await places.title("course/x"), "Screen");
  for (const name of Object.getOwnPropertyNames(Object.prototype)) {
    assert.equal(await places.title(`${name}/x`), "", name);
    assert.equal(await places.question(`${name}/x`), null, name);
  }
});

test("a refused question is asked again in a minute, and one that the network lost at once", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let asked = 0;
  /** @type {Error} */
  let error = new Error("No such step.");
  const question = async () => {
    asked++;
    throw error;
  };
  const places = new Places("/api", [], new Map([["course", { ...DESCRIBER, question }]]));
  const ask = () => places.question("course/x").catch(() => null);
  await ask();
  await ask();
  assert.equal(asked, 1);
  mock.timers.tick(60_000);
  error = new TypeError("network");
  await ask();
  mock.timers.tick(0);
  await ask();
  assert.equal(asked, 3);
  mock.timers.reset();
});

test("answers are tried only for their marks, a few at a time and in their order", async () => {
  /** @type {string[]} */
  const asked = [];
  let running = 0;
  let most = 0;
  /** @param {string} _api @param {string[]} _names @param {string} variant @param {string[]} tries */
  const question = async (_api, _names, variant, tries) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    asked.push([variant, ...tries].join());
    return null;
  };
  const places = new Places("/api", [], new Map([["course", { ...DESCRIBER, question }]]));
  const names = ["a", "b", "c", "d", "e", "f", "!"];
  const counts = { place: "course/x", answers: names.map((name) => ({ name, variant: "", count: 1 })) };
  const judged = await places.judge(counts, false);
  assert.deepEqual(asked, [""]);
  assert.deepEqual(
    judged.map(({ name }) => name),
    names,
  );
  await places.judge(counts, true);
  assert.deepEqual(asked, ["", ",a", ",b", ",c", ",d", ",e", ",f"]);
  assert.equal(most, 4);
});
