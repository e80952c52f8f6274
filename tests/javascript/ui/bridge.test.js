// Synchronization of a component with Streamlit: adopted values and reports.

import assert from "node:assert/strict";
import { test } from "node:test";
import { defineComponent, Reporter } from "../../../app/headlight_app/ui/frontend/bridge.ts";

/** @typedef {Record<string, unknown>} Value */

/**
 * A reporter of a choice, and its reports; the test controls the timers.
 * @param {import("node:test").TestContext} context @param {() => boolean} [isBusy]
 */
function reporting(context, isBusy) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const place = { pathname: "/generate" };
  Object.defineProperty(globalThis, "location", { value: place, configurable: true });
  const page = { text: "a", head: 0 };
  /** @type {Value[]} */
  const reported = [];
  const reporter = new Reporter(() => ({ ...page }), isBusy);
  reporter.connect((name, value) => reported.push({ name, .../** @type {Value} */ (value) }));
  return {
    page,
    place,
    reported,
    reporter,
    tick: (/** @type {number} */ milliseconds) => context.mock.timers.tick(milliseconds),
  };
}

test("several quick changes are one report, with the serial of the last", (context) => {
  const { page, reported, reporter, tick } = reporting(context);
  reporter.news({ text: "a", head: 0 }, 4);
  page.text = "b";
  reporter.changed();
  tick(200);
  page.text = "bc";
  reporter.changed();
  tick(200);
  assert.deepEqual(reported, []);
  tick(60);
  assert.deepEqual(reported, [{ name: "settled", text: "bc", serial: 6 }]);
});

test("after Back to another page a choice is not reported, and after the page's next run it is", (context) => {
  const { page, place, reported, reporter, tick } = reporting(context);
  reporter.news({ text: "a", head: 0 }, 4);
  page.head = 1;
  reporter.changed();
  place.pathname = "/";
  tick(300);
  assert.equal(reported.length, 0);
  reporter.connect((name, value) => reported.push({ name, .../** @type {Value} */ (value) }));
  page.head = 2;
  reporter.changed();
  tick(300);
  assert.deepEqual(reported, [{ name: "settled", head: 2, serial: 6 }]);
});

test("a change without effect is not reported, and counts as received", (context) => {
  const { page, reported, reporter, tick } = reporting(context);
  reporter.news({ text: "a", head: 0 }, 4);
  reporter.changed();
  tick(10_000);
  assert.deepEqual(reported, []);
  assert.ok(reporter.isHeard);
  page.head = 1;
  reporter.changed();
  page.head = 0; // undone within the delay: reported anyway, since Streamlit may have received the first
  reporter.changed();
  tick(300);
  assert.deepEqual(reported, [{ name: "settled", head: 0, serial: 6 }]);
});

test("values that Streamlit returns as reported are not news", (context) => {
  const { page, reporter, tick } = reporting(context);
  assert.deepEqual(reporter.news({ text: "a", head: 0 }, 0), { text: "a", head: 0 });
  assert.deepEqual(reporter.news({ text: "a", head: 0 }, 0), null);
  page.text = "b";
  reporter.changed();
  tick(300);
  assert.deepEqual(reporter.news({ text: "b", head: 0 }, 1), null);
  assert.deepEqual(reporter.news({ text: "c", head: 0 }, 1), { text: "c", head: 0 });
});

test("Streamlit's other values are adopted despite a pending change, and are not reported", (context) => {
  const { page, reported, reporter, tick } = reporting(context);
  reporter.news({ text: "a", head: 0 }, 7);
  page.text = "b";
  reporter.changed();
  assert.deepEqual(reporter.news({ text: "a", head: 0 }, 7), null);
  assert.deepEqual(reporter.news({ text: "c", head: 5 }, 7), { text: "b", head: 5 });
  page.head = 5;
  tick(300);
  assert.deepEqual(reported, [{ name: "settled", text: "b", serial: 8 }]);
});

test("unconfirmed values are reported again together with the next choice", (context) => {
  const { page, reported, reporter, tick } = reporting(context);
  reporter.news({ text: "a", head: 0 }, 0);
  page.text = "b";
  reporter.changed();
  tick(300);
  page.head = 2;
  reporter.changed();
  tick(300);
  assert.deepEqual(reported.at(-1), { name: "settled", text: "b", head: 2, serial: 2 });
  assert.equal(reporter.news({ text: "b", head: 0 }, 1), null);
  page.head = 3;
  reporter.changed();
  tick(300);
  assert.deepEqual(reported.at(-1), { name: "settled", head: 3, serial: 3 });
});

test("an opened state is adopted completely once Streamlit has confirmed it, and not before", (context) => {
  const { page, reported, reporter } = reporting(context);
  reporter.news({ text: "a", head: 0 }, 0);
  page.text = "b";
  reporter.changed();
  reporter.submit({ text: "a", head: 9 });
  assert.deepEqual(reported, [{ name: "settled", text: "a", head: 9, serial: 2 }]);
  assert.equal(reporter.news({ text: "b", head: 0 }, 1), null);
  assert.deepEqual(reporter.news({ text: "a", head: 1 }, 2), { text: "a", head: 1 });
});

test("a choice made before a file is confirmed is kept, and changes nothing else of the file", (context) => {
  const { page, reported, reporter, tick } = reporting(context);
  reporter.news({ text: "a", head: 0 }, 0);
  reporter.submit({ text: "from the file", head: 9 });
  page.head = 3;
  reporter.changed();
  tick(300);
  assert.deepEqual(reported.at(-1), { name: "settled", text: "from the file", head: 3, serial: 2 });
  assert.deepEqual(reporter.news({ text: "from the file", head: 9 }, 1), { text: "from the file", head: 3 });
  assert.equal(reporter.news({ text: "from the file", head: 3 }, 2), null);
  page.text = "from the file";
  page.head = 4;
  reporter.changed();
  tick(300);
  assert.deepEqual(reported.at(-1), { name: "settled", head: 4, serial: 3 }, "the file is not sent again");
});

test("going back discards unreported changes and adopts the address's values", (context) => {
  const { page, reported, reporter, tick } = reporting(context);
  reporter.news({ text: "a", head: 0 }, 7);
  page.text = "b";
  reporter.changed();
  reporter.discard();
  tick(5000);
  assert.deepEqual(reported, []);
  assert.deepEqual(reporter.news({ text: "a", head: 0 }, 7), { text: "a", head: 0 });
});

test("a sent report keeps its serial when the page discards other changes", (context) => {
  const { page, reported, reporter, tick } = reporting(context);
  reporter.news({ text: "a", head: 0 }, 7);
  page.text = "b";
  reporter.changed();
  tick(300);
  reporter.discard(); // before Streamlit has confirmed it
  page.head = 1;
  reporter.changed();
  tick(300);
  assert.deepEqual(
    reported.map(({ serial }) => serial),
    [8, 9],
  );
  reporter.news({ text: "b", head: 0 }, 8);
  assert.equal(reporter.isHeard, false);
});

test("a report waits for a pending answer, but not indefinitely", (context) => {
  let busy = true;
  const { page, reported, reporter, tick } = reporting(context, () => busy);
  reporter.changed();
  tick(300);
  assert.equal(reported.length, 0);
  busy = false;
  reporter.idle();
  tick(60);
  assert.equal(reported.length, 1);
  busy = true;
  page.head = 1;
  reporter.changed();
  tick(250);
  tick(740);
  assert.equal(reported.length, 1);
  tick(20);
  assert.equal(reported.length, 2);
});

test("nothing is reported after cancellation, or without values", (context) => {
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

/** A component that records the life cycle of each of its pages, and two places in a document. */
function mounting() {
  const places = [1, 2].map(() => /** @type {HTMLElement} */ (Object.assign(new EventTarget(), { isConnected: true })));
  /** @type {string[][]} */
  const pages = [];
  const component = defineComponent((_place, /** @type {{ text: string }} */ data) => {
    const page = [`mount ${data.text}`];
    pages.push(page);
    return { update: ({ text }) => void page.push(text), end: () => void page.push("end") };
  });
  const run = (/** @type {HTMLElement} */ parentElement, /** @type {string} */ text) =>
    component({ parentElement, data: [{ text }], setStateValue: () => {} });
  return { places, pages, run };
}

/** @param {HTMLElement} place */
function disconnect(place) {
  Object.assign(place, { isConnected: false });
}

test("each place has its own page, created once and ended once", () => {
  const { places, pages, run } = mounting();
  const leave = run(places[0], "a");
  run(places[0], "b");
  run(places[1], "c");
  disconnect(places[0]);
  leave();
  leave();
  assert.deepEqual(pages, [
    ["mount a", "a", "b", "end"],
    ["mount c", "c"],
  ]);
});

test("the clean-up of an overtaken run does not end the page, in either order", () => {
  const { places, pages, run } = mounting();
  const overtaken = run(places[0], "a");
  overtaken();
  const leave = run(places[0], "b");
  overtaken();
  assert.deepEqual(pages, [["mount a", "a", "b"]]);
  disconnect(places[0]);
  leave();
  assert.deepEqual(pages, [["mount a", "a", "b", "end"]]);
});

test("a run for a removed place creates no page", () => {
  const { places, pages, run } = mounting();
  disconnect(places[0]);
  run(places[0], "a")();
  assert.deepEqual(pages, []);
});

test("on leaving, pending changes are reported at once, and count as received only once confirmed", async (context) => {
  const { page, reported, reporter } = reporting(context);
  reporter.news({ text: "a", head: 0 }, 4);
  reporter.flush();
  assert.deepEqual(reported, [], "there is nothing to report");
  page.text = "b";
  reporter.changed();
  assert.ok(reporter.isPending && !reporter.isHeard);
  reporter.flush();
  assert.deepEqual(reported, [{ name: "settled", text: "b", serial: 5 }]);
  assert.ok(!reporter.isPending && !reporter.isHeard);
  const heard = reporter.heard();
  reporter.news({ text: "b", head: 0 }, 5);
  await heard;
  assert.ok(reporter.isHeard);
});

test("a page can set its own delay", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let count = 0;
  const patient = new Reporter(() => ({ head: 1 }), undefined, 3000);
  patient.connect(() => count++);
  patient.changed();
  context.mock.timers.tick(2900);
  assert.equal(count, 0);
  context.mock.timers.tick(200);
  assert.equal(count, 1);
});
