// A component and Streamlit in step: what is taken over, and what is reported when.

import assert from "node:assert/strict";
import { test } from "node:test";
import { defineComponent, Reporter } from "../../../app/ui/frontend/bridge.js";

/** @typedef {Record<string, unknown>} Value */

/**
 * A reporter of a choice, with what it told; timers are the test's.
 * @param {import("node:test").TestContext} context @param {() => boolean} [isBusy]
 */
function reporting(context, isBusy) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const page = { choice: "a" };
  /** @type {Value[]} */
  const reported = [];
  const reporter = new Reporter(() => ({ agreed: [page.choice], value: { choice: page.choice } }), isBusy);
  reporter.connect((name, value) => reported.push({ name, .../** @type {Value} */ (value) }));
  return {
    page,
    reported,
    reporter,
    tick: (/** @type {number} */ milliseconds) => context.mock.timers.tick(milliseconds),
  };
}

test("several changes in a moment are one report, with the number of the last", (context) => {
  const { page, reported, reporter, tick } = reporting(context);
  reporter.accepts(["a"], 4);
  reporter.changed();
  tick(200);
  page.choice = "b";
  reporter.changed();
  tick(200);
  assert.deepEqual(reported, []);
  tick(60);
  assert.deepEqual(reported, [{ name: "settled", choice: "b", serial: 6 }]);
});

test("what Streamlit hands back as it was told is no news", (context) => {
  const { page, reporter, tick } = reporting(context);
  assert.equal(reporter.accepts(["a"], 0), true);
  assert.equal(reporter.accepts(["a"], 0), false);
  page.choice = "b";
  reporter.changed();
  tick(300);
  assert.equal(reporter.accepts(["b"], 1), false);
  assert.equal(reporter.accepts(["c"], 1), true);
});

test("while the person has gone on, older news is not taken over", (context) => {
  const { page, reporter } = reporting(context);
  reporter.accepts(["a"], 7);
  page.choice = "b";
  reporter.changed();
  assert.equal(reporter.accepts(["c"], 7), false);
});

test("who goes back gives up what was not reported, and takes over what the address says", (context) => {
  const { page, reported, reporter, tick } = reporting(context);
  reporter.accepts(["a"], 7);
  page.choice = "b";
  reporter.changed();
  reporter.discard();
  tick(5000);
  assert.deepEqual(reported, []);
  assert.equal(reporter.accepts(["a"], 7), true);
});

test("a report waits for an answer that is on its way, but not for ever", (context) => {
  let busy = true;
  const { reported, reporter, tick } = reporting(context, () => busy);
  reporter.changed();
  tick(300);
  assert.equal(reported.length, 0);
  busy = false;
  reporter.idle();
  tick(60);
  assert.equal(reported.length, 1);
  busy = true;
  reporter.changed();
  tick(250);
  tick(740);
  assert.equal(reported.length, 1);
  tick(20);
  assert.equal(reported.length, 2);
});

test("nothing is reported after the end, or where there is nothing to say", (context) => {
  const { reported, reporter, tick } = reporting(context);
  reporter.changed();
  reporter.cancel();
  tick(1_000);
  const silent = new Reporter(() => null);
  silent.connect(() => reported.push({}));
  silent.changed();
  tick(1_000);
  assert.deepEqual(reported, []);
});

test("each place has a page of its own, made once", () => {
  const setStateValue = () => {};
  /** @type {HTMLElement[]} */
  const places = [1, 2].map(() => /** @type {HTMLElement} */ (new EventTarget()));
  /** @type {string[][]} */
  const texts = [];
  const run = defineComponent({
    mount: (_place, /** @type {{ text: string }} */ data) => {
      const page = [`mount ${data.text}`];
      texts.push(page);
      return page;
    },
    update: (page, data) => void page.push(data.text),
    unmount: (page) => void page.push("end"),
  });
  const leave = run({ parentElement: places[0], data: [{ text: "a" }], setStateValue });
  run({ parentElement: places[0], data: [{ text: "b" }], setStateValue });
  run({ parentElement: places[1], data: [{ text: "c" }], setStateValue });
  assert.deepEqual(texts, [
    ["mount a", "a", "b"],
    ["mount c", "c"],
  ]);
  leave();
  run({ parentElement: places[0], data: [{ text: "d" }], setStateValue });
  assert.deepEqual(texts, [
    ["mount a", "a", "b", "end"],
    ["mount c", "c"],
    ["mount d", "d"],
  ]);
});

test("what is not reported yet is reported at once for who leaves, and told apart from what was heard", async (context) => {
  const { page, reported, reporter } = reporting(context);
  reporter.accepts(["a"], 4);
  reporter.flush();
  assert.deepEqual(reported, [], "there is nothing to report");
  page.choice = "b";
  reporter.changed();
  assert.ok(reporter.isPending && !reporter.isHeard);
  reporter.flush();
  assert.deepEqual(reported, [{ name: "settled", choice: "b", serial: 5 }]);
  assert.ok(!reporter.isPending && !reporter.isHeard);
  const heard = reporter.heard();
  reporter.accepts(["b"], 5);
  await heard;
  assert.ok(reporter.isHeard);
});

test("a page says for itself how long a pause is", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let count = 0;
  const patient = new Reporter(() => ({ agreed: [], value: {} }), undefined, 3000);
  patient.connect(() => count++);
  patient.changed();
  context.mock.timers.tick(2900);
  assert.equal(count, 0);
  context.mock.timers.tick(200);
  assert.equal(count, 1);
});
