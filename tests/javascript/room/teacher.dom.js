// A teacher's panel: what deletes asks first, files are made in portions, and nothing waits for slow marks.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { GIVE_UP } from "../../../app/headlight_app/ui/frontend/contract.ts";
import { settle, wordsOf } from "../opened.js";
import { CODE, EMPTY, nextVisit, openRoom } from "./opened_room.js";

const PLACE = "course/attention/look-up";
/** @type {import("../../../app/headlight_app/course/frontend/contract.ts").AskedQuestion} */
const QUESTION = {
  ...{ place: 0, kind: "choice", text: "Which, or none?", options: ["a", "b"], rows: [], columns: [], ruled_out: [] },
  ...{ hints: [], more_hints: false, given: "", mistake: "", said: "", is_settled: false, is_right: false },
};
const HANDED = { hand_ins: [{ name: "lesson/x", count: 2 }], members: 9, present: 9 };

/** The files that a test saves, by their names. @param {import("node:test").TestContext} context */
function saving({ mock: inTest }) {
  /** @type {Map<string, string>} */
  const saved = new Map();
  /** @type {Blob} */
  let made;
  inTest.method(URL, "createObjectURL", (/** @type {Blob} */ blob) => {
    made = blob;
    return "blob:x";
  });
  inTest.method(
    HTMLAnchorElement.prototype,
    "click",
    /** @this {HTMLAnchorElement} */ async function () {
      saved.set(this.download, await made.text());
    },
  );
  return saved;
}

/** A teacher's page. @param {Record<string, any>} [panel] @param {Record<string, (body: any) => any>} [acts] @param {any} [describers] */
const teacher = (panel = {}, acts = {}, describers = new Map()) => {
  const room_panel = () => ({ ...EMPTY, ...panel });
  return openRoom({ room_visit: () => ({ role: "teacher", view: null }), room_panel, ...acts }, { describers });
};

test("after a visit that the network lost the teacher's button is there again", async () => {
  let isLost = true;
  const room_visit = () => {
    if (isLost) throw new TypeError("network");
    return { role: "teacher", view: null };
  };
  const { page } = await teacher({}, { room_visit });
  assert.ok(!page.shows("room-button"));
  isLost = false;
  await nextVisit();
  assert.ok(page.shows("room-button") && !page.shows("room-line"));
});

test("the class is brought with a sentence beside the button, and a refusal opens the sheet", async () => {
  let refuses = false;
  const room_panel = (/** @type {any} */ { bring }) => {
    if (bring && refuses) throw new Error("Not now.");
    return EMPTY;
  };
  const { page, asked } = await teacher({}, { room_panel });
  page.click("room-bring");
  for (let turn = 0; turn < 3; turn++) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(page.text("room-told"), "Students come here within some seconds.");
  assert.deepEqual(asked.at(-1)?.body.bring, { page: "course", query: "chapter=attention" });
  mock.timers.tick(8000);
  assert.equal(page.text("room-told"), "");
  refuses = true;
  page.click("room-bring");
  await settle();
  assert.ok(/** @type {HTMLDialogElement} */ (page.get("room-sheet")).open);
  assert.equal(page.text("room-problem"), "Not now.");
});

test("what deletes hand-ins names them first, and acts on a second click", async () => {
  const networks = [{ first: 3, members: 6, hand_ins: 1 }];
  const { page, asked } = await teacher({ ...HANDED, networks }, { room_end: () => ({}) });
  const [free] = page.all("[data-testid=room-networks] button");
  page.click(free);
  await settle();
  assert.equal(wordsOf(free), "Remove 6 students, and forget their answers and 1 hand-in?");
  assert.ok(free.isConnected && asked.every(({ body }) => !body.free));
  page.click(free);
  await settle();
  assert.ok(asked.some(({ body }) => body.free === 3));
  page.click("room-end");
  assert.equal(page.text("room-end"), "End it and forget all answers and 2 hand-ins?");
  mock.timers.tick(4000);
  assert.equal(page.text("room-end"), "End the room");
  page.click("room-end");
  page.click("room-end");
  await settle();
  assert.ok(asked.some(({ route }) => route === "room_end"));
});

test("opening a room leads back to the one with hand-ins, and says so", async () => {
  const acts = { room_open: () => ({ ...EMPTY, ...HANDED }), room_panel: () => ({ ...EMPTY, ...HANDED }) };
  const { page } = await openRoom(acts, { isInside: false });
  page.click("room-button");
  page.click("room-open");
  await new Promise((resolve) => setImmediate(resolve));
  assert.match(page.text("room-done"), /your room from before.* It holds 2 hand-ins/);
  assert.equal(page.text("room-handed"), "2 hand-ins:");
});

test("grades come in portions, and a file that blocks them has a row of its own", async (context) => {
  const saved = saving(context);
  const files = Array.from({ length: 12 }, (_, at) => ({ place: "lesson/x", number: at + 1, file: "{}" }));
  const lesson_collect = (/** @type {any} */ body) => {
    if (body.format === "zip") return { name: "hand-ins.zip", type: "application/zip", bytes: "PK" };
    const portion = body.files.slice(body.start, body.start + body.count);
    if (portion.some((/** @type {any} */ { name }) => name === "x-12.json")) throw new Error("It took too long.");
    const lines = portion.map((/** @type {any} */ { name }) => `"${name}","1",""\n`).join("");
    const head = body.has_head ?? true;
    return { name: "grades.csv", type: "text/csv", bytes: (head ? '"file","points","problem"\n' : "") + lines };
  };
  const { page, asked } = await teacher(HANDED, { room_hand_ins: () => ({ files }), lesson_collect });
  page.click("room-grades");
  assert.equal(page.text("room-grades"), "Computing…");
  page.click("room-grades");
  await settle();
  assert.equal(page.text("room-grades"), "Grades (CSV)");
  const lines = saved.get("grades.csv")?.trim().split("\n") ?? [];
  assert.deepEqual([lines.length, lines[0], lines[1]], [13, '"file","points","problem"', '"x-1.json","1",""']);
  assert.equal(lines[12], "x-12.json,,It took too long.");
  assert.deepEqual(
    asked.filter(({ route }) => route === "lesson_collect").map(({ body }) => body.start),
    [undefined, 0, 10, 10, 11],
  );
  page.click("room-files");
  await settle();
  assert.equal(saved.get("hand-ins.zip"), "PK");
});

test("results have a row for each answer to each variant, with its mark", async (context) => {
  const saved = saving(context);
  const answers = [
    { name: "a", count: 2, variant: "" },
    { name: "Rude", count: 1, variant: "" },
    { name: "<b>", count: 1, variant: "" },
    { name: "b", count: 1, variant: "5" },
    { name: "b", count: 3, variant: "other" },
    { name: GIVE_UP, count: 1, variant: "" },
  ];
  const question = async (/** @type {unknown[]} */ ...[, , variant, tries]) => {
    const [given = ""] = /** @type {string[]} */ (tries).filter((each) => QUESTION.options.includes(each));
    return { ...QUESTION, given, is_right: given === "a", mistake: given === "b" ? `Not of ${variant}.` : "" };
  };
  const describers = new Map([["course", { title: async () => "1.1 Look up", question }]]);
  const { page } = await teacher({ questions: [{ place: PLACE, answers }] }, {}, describers);
  page.click("room-results");
  await settle();
  assert.deepEqual(saved.get(`room-${CODE}.csv`)?.split("\r\n"), [
    "place,question,numbers,answer,right,mistake,students",
    '1.1 Look up,"Which, or none?",,a,yes,,2',
    '1.1 Look up,"Which, or none?",,something else,,,2',
    '1.1 Look up,"Which, or none?",5,b,no,Not of 5.,1',
    "1.1 Look up,,other,something else,,,3",
    '1.1 Look up,"Which, or none?",,asked to be shown,,,1',
  ]);
});

test("while marks are computed the panel goes on, and a goal has no marks", async () => {
  let release = () => {};
  const slow = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  const panel = { present: 1, questions: [{ place: PLACE, answers: [{ name: "a", count: 1, variant: "" }] }] };
  const question = async (/** @type {unknown[]} */ ...[, , , tries]) => {
    if (/** @type {string[]} */ (tries).length) await slow;
    return { ...QUESTION, given: "a", is_right: true };
  };
  const describers = new Map([["course", { title: async () => "1.1 Look up", question }]]);
  const { page } = await teacher(panel, {}, describers);
  assert.match(page.text("room-answers"), /^a1/);
  page.click("room-mark");
  panel.present = 7;
  await nextVisit();
  assert.equal(page.text("room-label"), `${CODE} · 7`);
  assert.match(page.text("room-answers"), /^a1/);
  release();
  await nextVisit();
  assert.match(page.text("room-answers"), /^✓ a1/);
  const goal = { title: async () => "1.1 Look up", question: async () => ({ ...QUESTION, is_right: null }) };
  const other = await teacher(panel, {}, new Map([["course", goal]]));
  assert.ok(!other.page.shows("room-mark"));
});

test("the countdown is no part of the button's name, and its end is told", async () => {
  const { page } = await teacher();
  page.fill("room-minutes", "1");
  page.get("room-time-form").dispatchEvent(new Event("submit", { cancelable: true }));
  assert.equal(page.text("room-clock"), "· 1:00");
  assert.equal(page.get("room-clock").ariaHidden, "true");
  page.get("room-time-form").dispatchEvent(new Event("submit", { cancelable: true }));
  assert.equal(page.text("room-clock"), "");
  page.fill("room-minutes", "0");
  page.get("room-time-form").dispatchEvent(new Event("submit", { cancelable: true }));
  assert.equal(page.text("room-told"), "Time is up");
});
