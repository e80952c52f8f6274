// The diagram from text to prediction, and why a head looks where it looks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnOn } from "../dom.js";
import { settle, wordsOf } from "../opened.js";
import { explore, shown } from "./opened.js";

const TEXT = "The cat ran and the";
const MODEL = "positions-decoder-rope";
const WORDS = "cat lamp pan fan fig toy lip dog cat lamp pan";

/** @param {Record<string, unknown>} [choice] */
async function picture(choice = {}) {
  const page = await explore({ text: TEXT, layer: 1, head: 2, ...choice }, MODEL);
  await settle();
  return page;
}

test("a click on a part opens it, and marks it as the open one", async () => {
  const page = await picture();
  const current = () => page.all("[data-testid^=part-][aria-current=true]").map(({ dataset }) => dataset.testid);
  assert.deepEqual(current(), ["part-heads-decoder.self-1"]);
  page.click("part-network-decoder-2");
  await settle();
  assert.ok(page.all("h3").some((heading) => /layer 2’s feed-forward/.test(wordsOf(heading))));
  assert.deepEqual(current(), ["part-network-decoder-2"]);
  page.click("part-prediction");
  await settle();
  assert.match(page.text("view-note"), /The answer/);
  page.click("part-heads-decoder.self-2");
  await settle();
  assert.match(page.text("head-title"), /^Layer 2 · Head/);
  page.click("inside-weights");
  await settle();
  assert.match(page.text("stair-title"), /Weights/);
  page.click("part-input-decoder");
  await settle();
  assert.match(page.text("vectors-reading"), /channel 0 of 128/);
  page.press("ArrowDown", "vectors");
  assert.match(page.text("vectors-reading"), /The, vector/);
});

test("the parts are walked through by keys, and what is typed changes their names", async () => {
  const page = await picture();
  const parts = page.all("[data-testid^=part-]");
  assert.equal(parts.filter(({ tabIndex }) => tabIndex === 0).length, 1);
  page.press("ArrowLeft", "part-heads-decoder.self-1");
  page.press("ArrowLeft");
  assert.equal(page.focused?.dataset.testid, "part-heads-decoder.self-0");
  page.press("Enter");
  await settle();
  assert.equal(page.text("head-title"), "Layer 0 · Head 2");
  const name = () => page.get("part-input-decoder").ariaLabel;
  assert.equal(name(), "tokens → vectors + positions: 6 tokens become vectors with positions");
  assert.equal(page.get("why").ariaBusy, "false");
  page.fill("sentence", "The cat ran and");
  await shown(page, "The cat ran and");
  assert.equal(page.get("why").ariaBusy, "true", "the reasons are still those of the earlier text");
  await settle();
  assert.equal(page.get("why").ariaBusy, "false");
  assert.equal(name(), "tokens → vectors + positions: 5 tokens become vectors with positions");
  const best = wordsOf(page.one(".candidate .token")).replace("·", "");
  assert.ok(page.text("part-prediction").includes(best));
});

test("all candidates stand once on the screen, and the picture's part is named by what it opens", async () => {
  const page = await picture();
  const [best, second] = page.all(".candidate .token").map((token) => wordsOf(token).replace("·", ""));
  const part = page.get("part-prediction");
  assert.ok(wordsOf(part).startsWith("prediction by layer") && wordsOf(part).includes(best));
  assert.ok(!wordsOf(part).includes(second) && !part.querySelector(".track"));
  page.click("part-prediction");
  await settle();
  assert.equal(page.get("analysis-logit_lens").ariaSelected ?? page.get("analysis-logit_lens").ariaPressed, "true");
});

test("every layer's thumbnails are drawn, and again when a head is switched off", async () => {
  const page = await picture();
  const drawn = () => JSON.stringify(drawnOn(page.one("[data-testid='part-heads-decoder.self-1'] canvas")));
  const before = drawn();
  assert.ok(before.length > 100);
  page.click("head-switch");
  await settle();
  assert.notEqual(drawn(), before);
});

test("the positions are said to be added to the scores or to the vectors", async () => {
  const variant = { masks: "", positional_encoding: "alibi", attention_function: "", scale: "", pooling: "" };
  const page = await picture({ tab: "tokens", variant });
  assert.match(page.text("tokens-lesson"), /Positions \(ALiBi\) are added to the scores/);
});

test("a tab of a former version leads to the heads", async () => {
  const page = await picture({ tab: "model", layer: 2 });
  assert.match(page.text("head-title"), /Layer 2/);
});

test("an encoder-decoder has a row for each stack, with its cross-attention", async () => {
  const page = await explore({ text: "1987-03-05", source: "March 5 1987" }, "dates");
  await settle();
  page.click("part-heads-decoder.cross-0");
  await settle();
  assert.equal(page.reports.at(-1)?.attention, "decoder.cross");
  page.click("part-input-encoder");
  await settle();
  assert.match(page.text("vectors-reading"), /channel 0 of 64/);
});

test("the explanation of a weight that is pressed in the plot is scrolled to, once; no other choice scrolls", async () => {
  const page = await explore({ text: WORDS, layer: 1, head: 1, pinned: [10], key: 4, sort: "query_key" });
  let scrolled = 0;
  page.get("ledger").scrollIntoView = () => scrolled++;
  await settle();
  assert.ok(page.shows("ledger"), "by a link");
  page.press("ArrowLeft", "head-1-1");
  page.press("ArrowRight");
  await settle();
  page.fill("pair-key", "3");
  await settle();
  assert.ok(page.shows("ledger"), "of the key in the menu");
  page.fill("sentence", `${WORDS} fan`);
  await shown(page, `${WORDS} fan`);
  await settle();
  assert.ok(page.shows("ledger"), "of the longer text");
  page.press("Escape", "stage");
  await settle();
  assert.ok(!page.shows("ledger"));
  assert.equal(scrolled, 0, "nothing was pressed in the plot");
  for (const key of ["ArrowUp", "ArrowLeft", "Enter"]) page.press(key, "stage");
  await settle();
  assert.ok(page.shows("ledger"));
  page.press("ArrowLeft", "head-1-1");
  page.press("ArrowRight");
  await settle();
  assert.equal(scrolled, 1);
});

test("a weight leads to the head that wrote it", async () => {
  const page = await explore({ text: WORDS, layer: 1, head: 1, pinned: [11], key: 4 });
  await settle();
  const ledger = page.get("ledger");
  assert.match(wordsOf(/** @type {Element} */ (ledger.querySelector("li"))), /layer 0, head 1/);
  assert.match(wordsOf(/** @type {Element} */ (ledger.querySelector("table"))), /L0 H1/);
  const parts = [...ledger.querySelectorAll("li:not(.total) output")];
  const numbers = parts.map((number) => Number(wordsOf(number).replace("−", "-")));
  const score = Number(/score (−?[\d.]+)/.exec(wordsOf(ledger))?.[1].replace("−", "-"));
  assert.ok(Math.abs(numbers.reduce((sum, one) => sum + one, 0) - score) < 0.05);
  const button = [...ledger.querySelectorAll("button")].find((one) => /layer 0, head 1/.test(wordsOf(one)));
  page.click(/** @type {Element} */ (button));
  await settle();
  assert.equal(page.text("head-title"), "Layer 0 · Head 1");
  assert.deepEqual(page.reports.at(-1)?.pinned, [4]); // this head's cell: "fan" looks at the previous word
  page.click("head-1-3", { shiftKey: true });
  await settle();
  assert.ok(!page.shows("ledger"), "with two heads chosen, it would describe neither");
});
