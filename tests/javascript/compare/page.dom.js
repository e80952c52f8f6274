// The Compare page: two sides, their heads, corresponding tokens, and differences.

import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnOn } from "../dom.js";
import { open, settle, until, wordsOf } from "../opened.js";

/** @import { Opened } from "../opened.js" */

const TEXT = "cat lamp pan cat";
const ALIBI = { positional_encoding: "alibi" };

/** @param {Record<string, unknown>} [choice] @param {Record<string, unknown>} [sideB] @param {string} [model] */
async function compare(choice = {}, sideB = {}, model = "induction") {
  const page = await open({
    module: "compare/frontend/main.ts",
    address: `compare?model=${model}`,
    choice: { text: TEXT, ...choice },
    data: { side_b: { variant: {}, ...sideB } },
  });
  await painted(page);
  return page;
}

/** Waits until the page shows the answer to the last request. @param {Opened} page */
async function painted(page) {
  await until(() => page.get("comparison").dataset.state === "ready");
  await settle();
}

/** @param {Opened} page */
const texts = (page) => JSON.parse(page.get("comparison").dataset.texts ?? "");
const MAPS = ["map-a", "map-d", "map-b"];
/** @param {Opened} page */
const maps = (page) => MAPS.map((name) => JSON.stringify(drawnOn(page.get(name))));
/** @param {Opened} page @param {"a" | "b"} side */
const alone = (page, side) => page.all(`[data-testid=tokens-${side}] .chip.alone`).map(wordsOf);
/** @param {Opened} page @param {"a" | "b"} side @param {number} place */
const chip = (page, side, place) => page.all(`[data-testid=tokens-${side}] .chip`)[place];

/** The distance of a head. @param {Opened} page @param {number} layer @param {number} head */
const distance = (page, layer, head) =>
  page.one(`[data-testid=apart] [data-row="${layer}"][data-column="${head}"] button`);

test("the head that differs most is chosen, and said to be of which models", async () => {
  const page = await compare({}, { variant: ALIBI });
  assert.match(page.text("notes"), /B – Positional encoding: ALiBi instead of/);
  const [first] = page.all("[data-testid=ranked] button");
  assert.equal(first.ariaPressed, "true");
  const [layer, head] = wordsOf(first).match(/\d+/g) ?? [];
  assert.equal(page.text("head-title"), `Layer ${layer} · Head ${head}`);
  assert.match(page.text("predictions"), /Jensen–Shannon distance/);
  const [a, , b] = maps(page);
  assert.notEqual(a, b);
});

test("both texts are typed, and words find their partners by content or by position", async () => {
  const page = await compare();
  assert.match(page.text("ranked"), /No head differs/);
  page.fill("text-b", "cat dog lamp pan cat");
  await painted(page);
  assert.deepEqual(texts(page), [TEXT, "cat dog lamp pan cat"]);
  assert.deepEqual(alone(page, "b"), ["dog"]);
  page.hover(chip(page, "a", 2));
  assert.deepEqual(page.all("[data-testid=tokens-b] .chip.query").map(wordsOf), ["lamp"]);
  page.click("align-position");
  await painted(page);
  assert.deepEqual(alone(page, "b"), ["cat"]);
  assert.ok(page.shows("as-a"));
  page.click("as-a");
  await painted(page);
  assert.deepEqual(texts(page), [TEXT, TEXT]);
  assert.ok(!page.shows("as-a"));
});

test("another model stands beside the first, with its own parts and tokens", async () => {
  const page = await compare({ text: "The cat ran" }, {}, "positions-decoder-rope");
  page.fill("b-model", "positions-encoder-rope");
  await painted(page);
  page.fill("text-b", "The cat ran [MASK].");
  await painted(page);
  assert.match(page.text("predictions"), /Next token \/ Masked token/);
  assert.match(page.text("predictions"), /after \u2068“ran”\u2069 .* at \u2068“\[MASK\]”\u2069/);
  const mask = /** @type {HTMLSelectElement} */ (page.get("b-masks"));
  assert.equal(mask.selectedOptions[0].text, "Bidirectional · as trained");
  assert.equal(wordsOf(page.one("[data-testid=tokens-b] .chip.alone.special")), "[CLS]");
  assert.match(wordsOf(page.one('[for="text-b"]')), /positions-encoder-rope/);
});

test("a head is switched off on one side", async () => {
  const page = await compare();
  page.click(distance(page, 1, 2));
  await settle();
  assert.equal(page.text("head-title"), "Layer 1 · Head 2");
  page.click("switch-b");
  await painted(page);
  assert.equal(page.get("switch-b").ariaChecked, "false");
  assert.equal(page.get("switch-a").ariaChecked, "true");
  assert.match(wordsOf(page.one("[data-testid=ranked] button")), /layer 1, head 2/);
  assert.deepEqual(page.reports.at(-1)?.side_b?.edits, ["decoder.1.self.weights[2]=set:0"]);
});

test("heads of a layer that is off are off here too", async () => {
  const page = await compare({ edits: ["decoder.1.self.weights=set:0"] });
  page.click(distance(page, 1, 2));
  await settle();
  assert.equal(page.get("switch-a").ariaChecked, "false");
  assert.equal(page.all("[data-testid=grid-a] .head-cell.off").length, 4);
  page.click("switch-a");
  await painted(page);
  assert.equal(page.all("[data-testid=grid-a] .head-cell.off").length, 3);
});

test("sides are swapped with all that sets them apart", async () => {
  const page = await compare({}, { text: "cat lamp", variant: ALIBI });
  page.click("swap");
  await painted(page);
  assert.deepEqual(texts(page), ["cat lamp", TEXT]);
  assert.match(page.text("notes"), /A – Positional encoding: ALiBi instead of/);
  assert.match(page.text("variant-a"), /ALiBi/);
});

test("heads and queries are chosen by keyboard alone, and two heads stand beside each other", async () => {
  const page = await compare();
  page.click(distance(page, 0, 0));
  await settle();
  for (const key of ["ArrowDown", "ArrowRight"]) page.press(key);
  await settle();
  assert.equal(page.text("head-title"), "Layer 1 · Head 1");
  assert.equal(page.focused, distance(page, 1, 1));
  assert.deepEqual(
    page.all("[data-testid=apart] button.chosen").map(({ ariaLabel }) => ariaLabel),
    ["Layer 1, head 1: 0"],
  );
  page.press("ArrowUp", "map-a");
  await painted(page);
  assert.match(page.text("predictions"), /after \u2068“pan”\u2069 \(position 3\)/);
  page.get("linked").click();
  page.click("grid-b-0-2");
  await settle();
  assert.equal(page.text("head-title"), "Two heads");
  assert.equal(page.text("map-title-b"), "B · layer 0, head 2");
  assert.equal(page.text("map-title-a"), "A · layer 1, head 1");
});

test("what one side cannot be asked is said of that side", async () => {
  const page = await compare();
  page.fill("text-b", "");
  await painted(page);
  assert.match(page.text("problem"), /B: The text is empty/);
  page.click("as-a");
  await painted(page);
  assert.ok(!page.shows("problem"));
});

test("the sides are named by what sets them apart", async () => {
  const page = await compare({}, { variant: ALIBI });
  assert.match(wordsOf(page.one('[for="text-b"]')), /^B ?ALiBi/);
});

test("a head and a token of B are patched into A, and taken back", async () => {
  const page = await compare({ text: "cat lamp pan cat" }, { text: "cat lamp pan cat" });
  assert.match(page.text("patch-hint"), /only if they differ in the text alone/);
  assert.ok(/** @type {HTMLButtonElement} */ (page.get("patch-head")).disabled);
  page.fill("text-b", "cat lamp pan lamp");
  await painted(page);
  assert.match(page.text("patch-hint"), /drag a head or a token/);
  page.click(distance(page, 1, 2));
  await settle();
  page.press("Enter", "patch-head");
  await painted(page);
  assert.equal(page.get("patch-head").ariaPressed, "true");
  assert.deepEqual(page.reports.at(-1)?.edits, ["decoder.1.self.weighted_values[2]=from:B"]);
  assert.equal(page.text("patches-made"), "layer 1, head 2 ×");
  page.press("Enter", "patch-head");
  await painted(page);
  assert.deepEqual(page.reports.at(-1)?.edits, []);
  page.click(distance(page, 0, 0));
  page.click(chip(page, "a", 4));
  await painted(page);
  page.press("Enter", "patch-token");
  await painted(page);
  assert.match(wordsOf(page.one("[data-testid=predictions] li")), /± 0\.0/); // before the first layer, this token is the whole difference
  page.click(page.one("[data-testid=patches-made] button"));
  await painted(page);
  assert.equal(page.text("patches-made"), "");
});
