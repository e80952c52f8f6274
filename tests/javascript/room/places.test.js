// What a student may name is no property of an object.

import assert from "node:assert/strict";
import { test } from "node:test";

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
