// The Positions page: charts as views, what is chosen there, and their figures and numbers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, settle, until, wordsOf } from "../opened.js";

/** @import { Opened } from "../opened.js" */

/** @param {string} query @param {Record<string, unknown>} [choice] */
async function positions(query, choice = {}) {
  const address = `positions?${query}`;
  const page = await open({ module: "ui/frontend/views/page/views_page.ts", address, component: "views_page", choice });
  await until(() => page.all("figure").length && page.get("views-page").dataset.state === "");
  return page;
}

/** Those of the charts, below the words that are exchanged. */
const titles = (/** @type {Opened} */ page) => page.all("figure:not(.view-matrix) figcaption").map(wordsOf);
const pressed = (/** @type {Opened} */ page, control = "option") =>
  page.all(`[aria-pressed="true"][data-testid^="${control}"]`).map(wordsOf);
const asked = (/** @type {Opened} */ page) => page.questions.filter(({ route }) => route === "views");

test("channels can be switched, but the last one stays", async () => {
  const page = await positions("model=dates");
  assert.deepEqual(titles(page).slice(0, 4), [
    "What is added to each token",
    "Channels over positions",
    "Similarity of positions",
    "Similarity to position 20",
  ]);
  assert.deepEqual(pressed(page, "choose-channels"), ["2", "8", "19", "33"]);
  for (const channel of ["8", "19", "33"]) page.click(`choose-channels-${channel}`);
  await settle();
  page.click("choose-channels-2");
  await settle();
  assert.deepEqual(pressed(page, "choose-channels"), ["2"]);
  assert.deepEqual(page.reports.at(-1)?.channels, [2]);
  assert.match(wordsOf(page.one("figure.view-lines svg title")), /: channel 2$/);
});

test("the slider moves while its chart follows, and what did not change is not drawn again", async () => {
  const page = await positions("model=dates");
  const [map, slider] = [page.one(".view-heat_map svg"), page.get("choose-position")];
  for (const position of ["3", "4", "5"]) page.fill(slider, position);
  await settle();
  assert.equal(page.get("choose-position"), slider);
  assert.equal(page.one(".view-heat_map svg"), map);
  assert.ok(titles(page).includes("Similarity to position 5"));
  assert.deepEqual(
    asked(page).map(({ body }) => body.choice.position),
    [-1, 3, 5],
    "while a question is open, only the newest choice waits",
  );
  assert.equal(page.reports.at(-1)?.position, 5);
  page.fill(slider, "20");
  await settle();
  assert.equal(page.reports.at(-1)?.position, -1, "the middle is not named in the address");
});

test("of two stacks one is chosen, and of the heads of a bias", async () => {
  const page = await positions("model=dates&positional_encoding=alibi", { attention: "encoder.self" });
  assert.deepEqual(pressed(page), ["encoder"]);
  assert.deepEqual(titles(page).slice(0, 2), ["Bias over distance", "Slope of each head: decrease per token"]);
  page.hover(page.one(".view-lines svg"), { clientX: 200, clientY: 40 });
  assert.match(wordsOf(page.one(".view-lines .legend")), /^head 0 ?−?\d.*distance \(key minus query\) −?\d+$/);
  page.leave(page.one(".view-lines .chart"));
  assert.doesNotMatch(wordsOf(page.one(".view-lines .legend")), /distance/);
  page.click("option-1");
  assert.deepEqual(pressed(page), ["decoder"], "before the answer");
  await settle();
  assert.equal(page.reports.at(-1)?.attention, "decoder.self");
  assert.deepEqual(pressed(page), ["decoder"]);
  assert.deepEqual(titles(page).slice(0, 2), ["Bias over distance", "Slope of each head: decrease per token"]);
});

test("the losses are a table, in which the open model is marked", async () => {
  const page = await positions("model=positions-decoder-rope");
  const [table] = page.all(".view-table table");
  assert.equal(wordsOf(/** @type {Element} */ (table.querySelector("tr.marked .badge"))), "open now");
  assert.ok(titles(page).includes("Loss of decoders over the length of the text"));
});

test("words of one's own are exchanged while they are typed, with positions and without them", async () => {
  const page = await positions("model=positions-encoder-learned");
  const matrices = () => page.all(".view-matrix figcaption").map(wordsOf);
  assert.deepEqual(matrices().slice(0, 2), ["[CLS] dog bit es man [SEP]", "[CLS] man bit es dog [SEP]"]);
  assert.match(
    page.text("views"),
    /With positions: Layer 2 · Head 3 ?The two orders differ.*Without positions: Layer 2 · Head 3 ?The two orders are the same/,
  );
  page.fill(page.one(".view-input input"), "cat saw boy");
  await settle();
  assert.deepEqual(matrices().slice(0, 2), ["[CLS] cat saw boy [SEP]", "[CLS] boy saw cat [SEP]"]);
  assert.equal(page.reports.at(-1)?.order_text, "cat saw boy");
});
