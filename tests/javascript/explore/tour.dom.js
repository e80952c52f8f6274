// The guided start, played to its end: what it says fits what the page shows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, settle, until, wordsOf } from "../opened.js";

/** @import { Opened } from "../opened.js" */

/** @param {string} model @param {string} [more] of the address */
async function explore(model, more = "") {
  const page = await open({
    module: "explore/frontend/main.ts",
    address: `explore?model=${model}&tour=1${more}`,
    file: "tour",
  });
  await until(() => page.one(".instrument").dataset.sentence);
  return page;
}

/** @param {string} model @param {string} [more] of the address */
async function tour(model, more = "") {
  const page = await explore(model, more);
  await until(() => page.shows("tour"));
  await settle();
  return page;
}

/** What the tour says, step by step, with the mark of each token; the last step stays open. @param {Opened} page */
async function said(page) {
  const sentences = [];
  for (let next = ""; next !== "Turn it on again"; next = page.text("tour-next")) {
    if (next) page.click("tour-next");
    await settle();
    sentences.push(wordsOf(page.one("[data-testid=tour] [role=status]")));
  }
  return sentences;
}

/** The change of the likeliest answer, as the tour says it. @param {string} sentence */
function change(sentence) {
  const [, from, to] = /(?:falls|rises) from (\S+) % to (\S+) %/.exec(sentence) ?? [];
  return Math.abs(Number(from) - Number(to.replace("<", "")));
}

test("the tour of a translation speaks of the source, and leads to the tasks to begin with", async () => {
  const page = await tour("translate");
  const [answer, look, moves, why, onward, ...more] = await said(page);
  assert.match(answer, /^The model reads the text above\. Next token after .+: .+, at \d.* %\. Which heads are behind/);
  assert.match(look, /^In head 5 of layer 2, framed in orange, .+ looks most at doctor\. A head copies information/);
  assert.match(look, /Turn it off together with head 2 of layer 2, and watch the prediction\.$/);
  assert.ok(change(moves) >= 20);
  assert.match(moves, /Grey bars show the values before\.$/);
  assert.match(why, /^Each head adds .+ These 2 heads had added .+(, and later|Their effect|[^,]$)/);
  assert.match(onward, /^Now type.+ Next, see Translate, where lines .+, and Describe, where each .+ looks at\.$/);
  assert.deepEqual(more, []);
});

test("heads of a label are told without what each adds, for it is no sum", async () => {
  const page = await tour("sentiment");
  const [answer, look, moves, onward, ...more] = await said(page);
  assert.match(answer, /^The model reads the text above\. Label of the whole text: (positive|negative), at/);
  assert.match(look, /^In head 6 of layer 1, framed in orange, \S+ looks most at \w+\. A head copies information/);
  assert.match(look, /Turn it off together with head 7 of layer 2 and head 2 of layer 2, and/);
  assert.match(moves, /^(positive|negative) falls from/);
  assert.match(onward, /^Now type/);
  assert.deepEqual(more, []);
});

test("a head that looks at its own token copies nothing from elsewhere, and one layer has no later ones", async () => {
  const page = await tour("ladder-3-heads");
  const [, look, moves, why] = await said(page);
  assert.match(look, /looks most at itself\. Turn it off, and watch/);
  assert.ok(change(moves) >= 20);
  assert.match(why, /This one had added [+−][\d.]+ to \w+\.$/);
});

test("a patch of a picture is called so", async () => {
  const [answer, look, moves] = await said(await tour("caption"));
  assert.match(answer, /^The model reads the picture above\./);
  assert.match(look, /cross looks most at the patch \d,\d\. A head copies/);
  assert.match(moves, /^below falls from .+, and above leads at/);
});

test("the heads of the card are for the model's first example; another source has its own", async () => {
  const page = await explore("translate", "&source=The+dog+is+big.");
  await settle();
  assert.equal(page.shows("tour"), false, "its end of the text is sure, whatever head is off");
});

for (const [way, press] of /** @type {const} */ ([
  ["the last button", "tour-next"],
  ["Skip", "tour-skip"],
]))
  test(`${way} leaves the page as it was before the tour`, async () => {
    const page = await tour("translate");
    const link = () => new URLSearchParams(location.search);
    await said(page);
    await until(() => link().get("edits"));
    assert.equal(link().get("query"), "3");
    page.click(press);
    await settle();
    await until(() => !link().get("edits"));
    assert.equal(link().get("query"), null);
    assert.equal(page.shows("tour"), false);
  });

test("a task to go to keeps the device, and nothing that belongs to the model", async () => {
  const page = await tour("stories-causal", "&device=cpu&quantity=scores");
  await said(page);
  const links = page.all("[data-testid=tour] a").map((link) => link.getAttribute("href"));
  assert.deepEqual(links, [
    "tasks?task=translate&model=translate&device=cpu",
    "tasks?task=describe&model=caption&device=cpu",
  ]);
});

test("a link to a page on which something was typed shows the same head", async () => {
  const page = await tour("stories-causal");
  page.click("tour-skip");
  const shown = page.text("head-title");
  page.fill("sentence", "Lily had a cat named Max. Every day she played with a");
  await settle();
  const address = new URLSearchParams(location.search);
  assert.equal(shown, `Layer ${address.get("layer")} · Head ${address.get("head")}`);
});
