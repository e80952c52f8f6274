// The Tasks page: each task's view of its answer, and what the answer rests on.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, settle, until, wordsOf } from "../opened.js";

/** @import { Opened } from "../opened.js" */

/** @param {string} model @param {string} task @param {Record<string, unknown>} choice */
async function tasks(model, task, choice) {
  const page = await open({
    module: "tasks/frontend/main.ts",
    address: `tasks?model=${model}&task=${task}`,
    component: "tasks",
    choice: { task, ...choice },
  });
  await until(() => page.one(".instrument").dataset.painted && page.shows(`task-${task}`));
  await settle();
  return page;
}

const chips = (/** @type {Opened} */ page, selector = ".task:not([hidden]) .outputs .chip") =>
  page.all(selector).filter((chip) => !chip.matches(".ahead") && !chip.closest("[hidden]"));
const pieces = (/** @type {Element[]} */ all) =>
  all.map((chip) => wordsOf(/** @type {Element} */ (chip.querySelector("bdi"))));
const reading = (/** @type {Opened} */ page) =>
  wordsOf(page.one(".task:not([hidden]) .view-alignment [data-testid=view-note]"));

test("numbers are sorted, each found by looking at one, and a head that is off is missed", async () => {
  const page = await tasks("sort", "sort", { text: "30 20 10 5 1" });
  assert.equal(wordsOf(page.one(".task:not([hidden]) .verdict")), "✓ All 5 numbers are in order.");
  assert.deepEqual(pieces(chips(page)), ["1", "5", "10", "20", "30"]);
  page.hover(chips(page)[0]);
  assert.match(reading(page), /1 was found by looking at 1/);
  const [layer, head] = page.text("head-title").match(/\d+/g) ?? [];
  page.leave(chips(page)[0]);
  page.click("head-switch");
  await settle();
  assert.match(reading(page), new RegExp(`All weights are 0: layer ${layer}, head ${head}`));
  page.click("head-switch");
  await settle();
  assert.equal(reading(page), "Point at a token to see only its lines.");
  assert.match(wordsOf(page.one(".task:not([hidden]) .view-alignment")), new RegExp(`: layer ${layer}, head ${head}`));
  page.fill("sentence", "5 x 1");
  await settle();
  assert.equal(page.one(".task:not([hidden]) .verdict").dataset.good, "false");
});

test("a target is written again step by step, and each token looks at its source", async () => {
  const page = await tasks("dates", "translate", { source: "March 5 1987", text: "1987-03-05" });
  const written = () => pieces(chips(page)).join("");
  assert.equal(written(), "1987-03-05");
  for (let times = 0; times < 3; times++) page.click(page.one(".task:not([hidden]) [aria-label='One step back']"));
  await settle();
  assert.equal(wordsOf(page.one(".task:not([hidden]) .steps .quiet")), "7 of 10 tokens written");
  assert.equal(written(), "1987-03");
  assert.match(reading(page), /3 was written looking at March/);
  page.click(page.one(".task:not([hidden]) [aria-label='One step on']"));
  await settle();
  assert.equal(wordsOf(page.one(".task:not([hidden]) .steps .quiet")), "8 of 10 tokens written");
});

/** A part of the views of the open task. @param {Opened} page @param {string} selector */
const inViews = (page, selector) => page.one(`.task:not([hidden]) .analysis ${selector}`);
const note = (/** @type {Opened} */ page, /** @type {string} */ kind) =>
  wordsOf(inViews(page, `.view-${kind} [data-testid=view-note]`));

test("beams are listed by their probability, and one is taken", async () => {
  const page = await tasks("dates", "translate", { source: "4/3/1987", text: "1987-04-03", beam_width: 1 });
  assert.equal(page.all(".task:not([hidden]) .view-table").length, 0);
  page.fill(inViews(page, ".view-choice select"), "2");
  await until(() => page.all(".task:not([hidden]) .view-table th button").length);
  const beams = () => page.all(".task:not([hidden]) .view-table th button");
  assert.equal(wordsOf(beams()[0]), "1987-04-03");
  const second = wordsOf(beams()[1]);
  page.click(beams()[1]);
  await settle();
  assert.equal(/** @type {HTMLTextAreaElement} */ (page.get("sentence")).value, second);
  assert.equal(beams()[1].ariaPressed, "true");
  assert.equal(page.reports.at(-1)?.text, second);
  assert.equal(page.reports.at(-1)?.beam_width, 3);
});

test("a label rests on tokens and heads", async () => {
  const page = await tasks("sentiment", "classify", { text: "a dull film" });
  const tokens = () => chips(page, ".task:not([hidden]) .token-chips .chip");
  await until(() => tokens().length === 3);
  assert.deepEqual(pieces(tokens()), ["a", "dull", "film"]);
  page.click(page.all(".task:not([hidden]) button.bar-label")[1]);
  await settle();
  assert.match(wordsOf(inViews(page, "h3")), /What “positive” rests on/);
  page.hover(tokens()[1]);
  assert.match(note(page, "tokens"), /^\u2068“dull”\u2069: without it \u2068“positive”\u2069 has .* instead of/);
  page.click(inViews(page, ".view-matrix td[data-row='1'][data-column='0'] button"));
  await settle();
  assert.match(page.text("head-title"), /Layer 1 · Head 0/);
  assert.equal(page.reports.at(-1)?.target_token, 1);
  page.fill(inViews(page, ".view-choice select"), "0");
  await settle();
  assert.equal(page.reports.at(-1)?.variant.pooling, "first");
});

test("each token is tagged, and says what it looked at", async () => {
  const page = await tasks("entities", "tag", { text: "Anna lives in Paris" });
  const tagged = () => chips(page, ".task:not([hidden]) .token-chips .chip");
  await until(() => tagged().length > 3);
  page.hover(tagged()[0]);
  assert.match(note(page, "tokens"), /%.*it looked at/);
  page.leave(tagged()[0]);
  page.click(tagged()[2]);
  await settle();
  assert.ok(tagged()[2].classList.contains("query"));
  assert.match(note(page, "tokens"), /%.*it looked at/, "the chosen token stays told");
  page.fill("sentence", "Paris");
  await settle();
  assert.ok(tagged().length < 4);
});

test("two sentences are compared, pair by pair and head by head", async () => {
  const page = await tasks("positions-encoder-rope", "similar", { text: "The cat ran", other_text: "The cat ran" });
  const verdict = () => wordsOf(inViews(page, ".verdict")).split(" with")[0];
  await until(() => page.all(".task:not([hidden]) .verdict").length);
  assert.equal(verdict(), "Cosine 1.0000");
  const box = inViews(page, ".view-input input");
  page.fill(box, "The dog ran");
  await settle();
  assert.equal(inViews(page, ".view-input input"), box, "the box stays while one types");
  assert.notEqual(verdict(), "Cosine 1.0000");
  page.hover(inViews(page, ".view-matrix td[data-row='2'][data-column='2']"));
  assert.match(note(page, "matrix"), /^cat, \u2068“dog”\u2069: /);
  assert.match(wordsOf(inViews(page, ".view-row:has(.verdict)")), /not trained for sentence vectors/);
  const heads = "[data-testid=analysis-long] .view-matrix";
  await until(() => page.all(`.task:not([hidden]) ${heads}`).length);
  page.hover(inViews(page, `${heads} td[data-row='2'][data-column='1'] button`));
  const reading = wordsOf(inViews(page, `${heads} [data-testid=view-note]`));
  const without = /Without layer 2, head 1: (.+)/.exec(reading)?.[1];
  page.click(inViews(page, `${heads} td[data-row='2'][data-column='1'] button`));
  await settle();
  page.click("head-switch");
  await settle();
  assert.equal(verdict(), `Cosine ${without}`);
});

test("a model without layers shows its labels all the same", async () => {
  const page = await open({
    module: "tasks/frontend/main.ts",
    address: "tasks?model=entities&task=tag",
    component: "tasks",
    choice: { task: "tag", text: "Anna lives in Paris" },
    change: (route, answer) =>
      route === "trace" ? { ...answer, meta: { ...answer.meta, attention_groups: [] } } : answer,
  });
  await until(() => chips(page, ".task:not([hidden]) .token-chips .chip").length > 3);
  page.hover(chips(page, ".task:not([hidden]) .token-chips .chip")[0]);
  assert.match(note(page, "tokens"), /%/);
});
