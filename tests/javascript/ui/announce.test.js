// Of several changes only the last is announced, once, after a pause.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Announcer } from "../../../app/headlight_app/ui/frontend/dom/announce.ts";

test("a line is filled once, after a pause, and again with the same words", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {string[]} */
  const said = [];
  const announcer = new Announcer({
    get textContent() {
      return said.at(-1) ?? "";
    },
    set textContent(words) {
      if (words) said.push(words);
    },
  });
  for (const words of ["girl", "boy", "dog"]) announcer.say(words);
  assert.deepEqual(said, []);
  context.mock.timers.tick(5_000);
  announcer.say("dog");
  context.mock.timers.tick(5_000);
  assert.deepEqual(said, ["dog", "dog"]);
});
