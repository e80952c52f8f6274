// The countdown: it counts in seconds, ends with a sentence, and is stopped.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { TIME_IS_UP, Timer } from "../../../app/headlight_app/room/frontend/timer.ts";

test("a countdown tells the time that is left, its end, and nothing once it is stopped", () => {
  mock.timers.enable({ apis: ["setInterval", "Date"] });
  /** @type {string[]} */
  const told = [];
  const timer = new Timer((left) => told.push(left));
  timer.start(1);
  assert.ok(timer.runs);
  for (let second = 0; second < 2; second++) mock.timers.tick(1000);
  assert.deepEqual(told, ["", "1:00", "0:59", "0:58"]);
  mock.timers.tick(60_000);
  assert.equal(told.at(-1), TIME_IS_UP);
  const count = told.length;
  mock.timers.tick(60_000);
  assert.equal(told.length, count, "its end is told once");
  timer.stop();
  assert.ok(!timer.runs && told.at(-1) === "");
});
