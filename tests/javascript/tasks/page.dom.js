// The Tasks page: each task's view of its answer, and what the answer rests on.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, settle, until, wordsOf } from "../opened.js";

/** @import { Opened } from "../opened.js" */

/** @param {string} model @param {string} task @param {Record<string, unknown>} choice */
async function tasks(model, task, choice) {
  const page = await open({
    module: "tasks/frontend/main.js",
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
const reading = (/** @type {Opened} */ page) => wordsOf(page.one(".task:not([hidden]) .reading"));

test("numbers are sorted, each found by looking at one, and a head that is off is missed", async () => {
  const page = await tasks("sort", "sort", { text: "30 20 10 5 1" });
  assert.equal(page.text("sort-verdict"), "All 5 numbers are in order.");
  assert.deepEqual(pieces(chips(page)), ["1", "5", "10", "20", "30"]);
  page.hover(chips(page)[0]);
  assert.match(reading(page), /1 was found by looking at 1/);
  const [layer, head] = page.text("head-title").match(/\d+/g) ?? [];
  page.leave(chips(page)[0]);
  page.click("head-switch");
  await settle();
  assert.match(reading(page), new RegExp(`All weights of layer ${layer}, head ${head} are 0`));
  page.click("head-switch");
  await settle();
  assert.match(reading(page), new RegExp(`Weights: layer ${layer}, head ${head}. Point`));
  page.fill("sentence", "5 x 1");
  await settle();
  assert.ok(page.get("sort-verdict").classList.contains("wrong"));
});

test("a target is written again step by step, and each token looks at its source", async () => {
  const page = await tasks("dates", "translate", { source: "March 5 1987", text: "1987-03-05" });
  const written = () => pieces(chips(page)).join("");
  assert.equal(written(), "1987-03-05");
  for (let times = 0; times < 3; times++) page.click("write-back");
  await settle();
  assert.equal(page.text("write-count"), "7 of 10 tokens written");
  assert.equal(written(), "1987-03");
  assert.match(reading(page), /3 was written looking at March/);
  page.click("write-on");
  await settle();
  assert.equal(page.text("write-count"), "8 of 10 tokens written");
});

test("beams are listed by their probability, and one is taken", async () => {
  const page = await tasks("dates", "translate", { source: "4/3/1987", text: "1987-04-03", beam_width: 1 });
  page.fill("beam-width", "3");
  await settle();
  assert.equal(page.text("beam-0"), "1987-04-03");
  const second = page.text("beam-1");
  page.click("beam-1");
  await settle();
  assert.equal(/** @type {HTMLTextAreaElement} */ (page.get("sentence")).value, second);
  assert.equal(page.get("beam-1").ariaPressed, "true");
  assert.equal(page.reports.at(-1)?.text, second);
});

test("a label rests on tokens and heads", async () => {
  const page = await tasks("sentiment", "classify", { text: "a dull film" });
  await until(() => chips(page, "[data-testid=class-tokens] .chip").length === 3);
  assert.deepEqual(pieces(chips(page, "[data-testid=class-tokens] .chip")), ["a", "dull", "film"]);
  page.click("class-label-1");
  await settle();
  const label = /What “(.+)” rests on/.exec(page.text("class-title"))?.[1];
  assert.ok(label);
  page.hover(chips(page, "[data-testid=class-tokens] .chip")[1]);
  assert.match(page.text("class-reading"), new RegExp(`Without dull “${label}” has`));
  page.click(page.one("[data-testid=class-head-1-0]"));
  await settle();
  assert.match(page.text("head-title"), /Layer 1 · Head 0/);
  assert.equal(page.reports.at(-1)?.target_token, 1);
});

test("each token is tagged, and says what it looked at", async () => {
  const page = await tasks("entities", "tag", { text: "Anna lives in Paris" });
  const tagged = () => chips(page, "[data-testid=tagged] .chip");
  await until(() => tagged().length > 3);
  page.hover(tagged()[0]);
  assert.match(page.text("tag-reading"), / is .*it looked at/);
  assert.equal(page.get("tagged").querySelectorAll("script").length, 0);
  page.fill("sentence", "Paris");
  await settle();
  assert.ok(tagged().length < 4);
});

test("two sentences are compared, pair by pair and head by head", async () => {
  const page = await tasks("positions-encoder-rope", "similar", { text: "The cat ran", other_text: "The cat ran" });
  assert.equal(page.text("similar-verdict"), "Cosine 1.0000");
  page.fill("similar-other", "The dog ran");
  await settle();
  assert.notEqual(page.text("similar-verdict"), "Cosine 1.0000");
  assert.match(page.get("similar-2-2").ariaLabel ?? "", /^“cat” and “dog”: /);
  assert.match(page.text("similar-pooling"), /not trained for sentence vectors/);
  await until(() => page.get("similar-heads-reading").ariaBusy === "false");
  page.hover("similar-head-2-1");
  const without = /Without layer 2, head 1: (.+)/.exec(page.text("similar-heads-reading"))?.[1];
  page.click("similar-head-2-1");
  await settle();
  page.click("head-switch");
  await settle();
  assert.equal(page.text("similar-verdict"), `Cosine ${without}`);
});
