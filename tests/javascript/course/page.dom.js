// The Course page: controls change the pictures, questions are answered wrong and right, links keep a learner's numbers.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { describeScreen } from "../../../app/headlight_app/course/frontend/room_places.ts";
import { open, settle, until, wordsOf } from "../opened.js";

/** @import { Opened } from "../opened.js" */

const AT_ONCE = JSON.stringify({ showsAtOnce: true });

beforeEach(() => localStorage.clear());

/** A screen of the course, asked about first or shown at once. @param {string} chapter @param {string} screen @param {boolean} [atOnce] */
async function course(chapter, screen, atOnce = true) {
  if (atOnce) localStorage.setItem("headlight-course", AT_ONCE);
  const page = await open({
    module: "course/frontend/main.ts",
    address: "course?model=stories-causal",
    choice: { chapter, screen },
  });
  await answered(page, screen);
  return page;
}

/** @param {Opened} page @param {string} screen */
async function answered(page, screen) {
  await until(() => page.all(`[data-testid=screen-${screen}]`)[0]?.dataset.state === "ready");
  await settle();
}

/** @param {Opened} page @param {string} screen @param {string} selector */
const inside = (page, screen, selector) => page.all(`[data-testid=screen-${screen}] ${selector}`);
/** @param {Opened} page @param {string} screen @param {string} name */
const button = (page, screen, name) =>
  /** @type {HTMLButtonElement} */ (
    inside(page, screen, "button").find((one) => wordsOf(one).includes(name) || one.ariaLabel?.includes(name))
  );
/** @param {Opened} page @param {string} screen @param {string} label */
const field = (page, screen, label) =>
  /** @type {HTMLInputElement} */ (inside(page, screen, `[aria-label="${label}"]`)[0]);

test("numbers are changed, checked, kept and forgotten", async () => {
  const page = await course("attention", "look-up");
  const bars = () => inside(page, "look-up", "[data-testid=view-bars]").map(wordsOf).join(" ");
  const alert = () => wordsOf(inside(page, "look-up", "[role=alert]")[0]);
  assert.match(bars(), /soft 0\.72/);
  page.fill("input-sharpness", "0");
  await answered(page, "look-up");
  assert.match(bars(), /soft 0\.33/);
  const cell = () => field(page, "look-up", "Keys, row 1, column 0");
  page.fill(cell(), "two");
  await answered(page, "look-up");
  assert.match(alert(), /Row 1, column 0 of Keys is 'two'/);
  assert.equal(cell().ariaInvalid, "true");
  page.fill(cell(), "4");
  await answered(page, "look-up");
  assert.equal(alert(), "");
  assert.equal(cell().ariaInvalid, "false");
  page.click(
    /** @type {Element} */ (page.get("input-keys").parentElement?.querySelector("[aria-label='More entries']")),
  );
  await answered(page, "look-up");
  assert.equal(field(page, "look-up", "Values, row 3, column 1").value, "0");
  assert.match(bars(), /soft 0\.25/);
  assert.match(page.reports.at(-1)?.course_inputs, /look-up\.keys=1%2C0%3B4%2C1%3B-1%2C0%3B0%2C0/);
  page.click(inside(page, "look-up", "[data-testid=reset]")[0]);
  await answered(page, "look-up");
  assert.match(bars(), /soft 0\.72/);
  assert.equal(page.reports.at(-1)?.course_inputs, "");
});

test("a learner is asked first: a wrong answer gets its reason, the right one the picture", async () => {
  const page = await course("attention", "look-up", false);
  const said = () => wordsOf(inside(page, "look-up", "[data-testid=said]")[0]);
  const views = () => inside(page, "look-up", "[data-testid=view-bars]").length;
  assert.ok(page.all("math").every((formula) => !wordsOf(formula).includes("\\")));
  assert.equal(views(), 0);
  page.click(button(page, "look-up", "entry 2"));
  await answered(page, "look-up");
  assert.match(said(), /Its score is 2 × \(1·\(−1\)/);
  assert.ok(button(page, "look-up", "entry 2").disabled);
  assert.equal(views(), 0);
  page.fill(field(page, "look-up", "Keys, row 2, column 0"), "9"); // another value, another answer
  await answered(page, "look-up");
  page.click(button(page, "look-up", "entry 2"));
  await answered(page, "look-up");
  assert.match(said(), /Right\./);
  assert.equal(views(), 1);
  assert.ok(inside(page, "look-up", "[data-testid=next-screen]").length);
});

test("a mask is drawn, with its axes exchanged and right", async () => {
  const page = await course("masks", "added", false);
  const said = () => wordsOf(inside(page, "added", "[data-testid=said]")[0]);
  const tick = (/** @type {string} */ row, /** @type {string} */ column) =>
    field(page, "added", `Your mask, row ${row}, column ${column}`);
  const words = ["the", "cat", "sat", "on"];
  for (const [row, query] of words.entries()) for (const key of words.slice(row)) tick(query, key).click();
  page.click(button(page, "added", "Check"));
  await answered(page, "added");
  assert.match(said(), /You have swapped the axes/);
  assert.ok(tick("the", "on").checked, "the drawing is still there");
  page.fill("input-mask", "none"); // another value, another answer, from an empty drawing
  await answered(page, "added");
  assert.ok(!tick("the", "on").checked);
  for (const query of words) for (const key of words) tick(query, key).click();
  page.click(button(page, "added", "Check"));
  await answered(page, "added");
  assert.match(said(), /Right\./);
  assert.ok(inside(page, "added", "[data-testid=view-matrix]").length);
});

test("a cell is pointed at by keys", async () => {
  const page = await course("beyond-text", "patches", false);
  const said = () => wordsOf(inside(page, "patches", "[data-testid=said]")[0]);
  page.press("ArrowRight", field(page, "patches", "Row row 0, column 0"));
  page.press("ArrowRight");
  page.press("ArrowDown");
  page.press("Enter");
  await answered(page, "patches");
  assert.match(said(), /counted column by column/);
  page.click(field(page, "patches", "Row row 2, column 1"));
  await answered(page, "patches");
  assert.match(said(), /Right\./);
});

test("steps are put in order by keys, and the answer is shown to who gives up", async () => {
  const page = await course("block", "diagram", false);
  const step = button(page, "diagram", "add the feed-forward to the stream: later");
  page.press("ArrowDown", step);
  await settle();
  assert.equal(page.text("announced"), "add the feed-forward to the stream: 2 of 6");
  assert.equal(page.focused, button(page, "diagram", "add the feed-forward to the stream: later"));
  page.click(button(page, "diagram", "Check"));
  await answered(page, "diagram");
  const said = () => wordsOf(inside(page, "diagram", "[data-testid=said]")[0]);
  assert.match(said(), /The first is not right\./);
  page.click(inside(page, "diagram", "[data-testid=show-me]")[0]);
  await answered(page, "diagram");
  assert.match(said(), /The answer is the norm of the self-attention, the self-attention, /);
  assert.ok(inside(page, "diagram", "[data-testid=view-table]").length);
});

test("the verdict of an earlier question stays while the numbers are changed for the last one", async () => {
  const page = await course("block", "feed-forward", false);
  const said = () => inside(page, "feed-forward", "[data-testid=said]").map(wordsOf);
  page.fill(inside(page, "feed-forward", "[data-testid=answer]")[0], "2");
  page.click(button(page, "feed-forward", "Check"));
  await answered(page, "feed-forward");
  const [first] = said();
  assert.match(first, /^Right\./);
  page.fill(field(page, "feed-forward", "b₁, row 0, column 0"), "1");
  await answered(page, "feed-forward");
  assert.equal(said()[0], first);
  page.click(button(page, "feed-forward", "Check"));
  await answered(page, "feed-forward");
  assert.equal(said()[0], first);
});

test("the button of a long run counts its seconds until it is stopped", async () => {
  const page = await open({
    module: "course/frontend/main.ts",
    address: "course?model=stories-causal",
    choice: { chapter: "training", screen: "ladder" },
  });
  await until(() => inside(page, "ladder", ".run").length > 0);
  const run = inside(page, "ladder", ".run")[0];
  globalThis.fetch = () => new Promise(() => {}); // the run takes its time
  page.click(run);
  for (const seconds of [0, 1, 2]) await until(() => wordsOf(run) === `Stop · ${seconds} s`);
  page.click(run);
  assert.equal(wordsOf(run), "Run");
});

test("what a screen computes is refused with a sentence, and told again once it is right", async () => {
  const page = await course("heads", "cost");
  const words = () => wordsOf(page.get("screen-cost"));
  assert.match(words(), /8 narrow heads take 16,384 parameters/);
  page.fill(inside(page, "cost", "[data-testid=input-heads]")[0], "7");
  await answered(page, "cost");
  assert.match(wordsOf(inside(page, "cost", "[role=alert]")[0]), /does not divide/);
  page.fill(inside(page, "cost", "[data-testid=input-heads]")[0], "4");
  await answered(page, "cost");
  assert.match(words(), /4\.0 times the parameters/);
});

test("the contents lead to another chapter, and a missing one to the first", async () => {
  const page = await course("masks", "added");
  assert.equal(page.text("chapter-title"), "Masks");
  page.click(
    page.all("[data-testid=contents] button").find((one) => /Attention by hand/.test(wordsOf(one))) ?? "contents",
  );
  await until(() => page.text("chapter-title") === "Attention by hand");
  await settle();
  assert.equal(page.reports.at(-1)?.chapter, "attention");
  const missing = await open({
    module: "course/frontend/main.ts",
    address: "course?model=stories-causal",
    choice: { chapter: "nothing", screen: "" },
  });
  await until(() => /no chapter 'nothing'/.test(missing.text("course-problem")));
  await until(() => missing.text("chapter-title"));
});

test("who turns back on the way to another chapter sees the inputs that the address has", async () => {
  const page = await course("masks", "added");
  const mask = () => /** @type {HTMLSelectElement} */ (page.get("input-mask")).value;
  const asTrained = mask();
  page.fill("input-mask", "none");
  await answered(page, "added");
  page.click("chapter-attention");
  page.click("contents-added"); // before the other chapter is here
  await settle();
  await answered(page, "added");
  assert.deepEqual([page.reports.at(-1)?.chapter, page.reports.at(-1)?.course_inputs], ["masks", ""]);
  assert.equal(mask(), asTrained);
});

test("to a room a goal is a question without marks, since it is reached on the learner's own screen", async () => {
  await course("attention", "design");
  const goal = await describeScreen("api", ["attention", "design"], "", ["check"]);
  assert.deepEqual([goal?.kind, goal?.given, goal?.is_right, goal?.mistake], ["design", "check", null, ""]);
  const choice = await describeScreen("api", ["attention", "look-up"], "", ["entry 2"]);
  assert.deepEqual([choice?.given, choice?.is_right], ["entry 2", false]);
});

test("on the core path a trained head comes first, formulas last, and the next screen is a button at the answer", async () => {
  const page = await course("first-reading", "look", false);
  const formulas = () => inside(page, "look", ".result > .formula-block")[0];
  assert.equal(inside(page, "look", "[data-testid=view-heat_map]").length, 1);
  assert.ok(formulas().hidden && !inside(page, "look", "[data-testid=next-screen]").length);
  page.click(button(page, "look", "wall"));
  await answered(page, "look");
  assert.match(wordsOf(inside(page, "look", "[data-testid=said]")[0]), /Read the row of “He”, not its column/);
  page.click(button(page, "look", "Tom"));
  await answered(page, "look");
  assert.ok(!formulas().hidden && formulas().previousElementSibling?.classList.contains("rows"));
  assert.ok(formulas().nextElementSibling?.querySelector("[data-testid=next-again]:not(.primary)"));
  assert.ok(inside(page, "look", ".question.settled > .primary[data-testid=next-screen]").length);
});

test("a question above the map leads to the screen that answers it", async () => {
  localStorage.setItem("headlight-course", AT_ONCE);
  const page = await open({
    module: "course/frontend/main.ts",
    address: "course?model=stories-causal",
    choice: { chapter: "", screen: "" },
  });
  await until(() => page.all("[data-testid=entries] button").length > 0);
  page.click(page.all("[data-testid=entries] button").find((one) => /a mask/.test(wordsOf(one))) ?? "entries");
  await until(() => page.text("chapter-title") === "How attention works");
  await settle();
  assert.deepEqual([page.reports.at(-1)?.chapter, page.reports.at(-1)?.screen], ["first-reading", "mask"]);
});
