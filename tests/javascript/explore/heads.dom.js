// The tab "Heads": the grid, the plots of the chosen heads and the options of these plots.

import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnOn } from "../dom.js";
import { settle, until, wordsOf } from "../opened.js";
import { chips, explore, ranks, shown, thumbs, WORDS } from "./opened.js";

/** @import { Opened } from "../opened.js" */

const names = (/** @type {Opened} */ page) => thumbs(page).map(({ dataset }) => dataset.testid);
const isSorted = (/** @type {number[]} */ numbers) =>
  numbers.every((one, place) => !place || one <= numbers[place - 1]);
const BY_LAYER = [0, 1].flatMap((layer) => [0, 1, 2, 3].map((head) => `head-${layer}-${head}`));

test("every head of every layer has a cell with its name and one tab stop", async () => {
  const page = await explore({ layer: 1, head: 1 });
  assert.deepEqual(names(page), BY_LAYER);
  assert.equal(page.get("head-1-2").ariaLabel, "Layer 1, head 2");
  assert.equal(page.get("grid").role, "grid");
  assert.ok(thumbs(page).every((cell) => cell.role === "gridcell" && cell.parentElement?.role === "row"));
  assert.deepEqual(
    thumbs(page)
      .map(({ tabIndex }) => tabIndex)
      .filter((index) => index === 0),
    [0],
  );
  assert.deepEqual(
    page.all(".thumb[aria-selected=true]").map(({ dataset }) => dataset.testid),
    ["head-1-1"],
  );
});

test("heads can be put in the order of what they do, and the arrows follow that order", async () => {
  const page = await explore();
  page.fill("sort", "previous");
  assert.equal(ranks(page).length, 8);
  assert.ok(isSorted(ranks(page)));
  assert.match(wordsOf(thumbs(page)[0]), /^L0 H\d.* %$/);
  page.click(thumbs(page)[0]);
  const [, second] = names(page);
  page.press("ArrowRight");
  assert.equal(page.text("head-title"), (second ?? "").replace(/head-(\d)-(\d)/, "Layer $1 · Head $2"));
  assert.equal(page.focused?.dataset.testid, second);
  page.click("metric-previous");
  assert.deepEqual(names(page), BY_LAYER);
  await until(() => page.reports.some(({ sort }) => sort === "layer"));
});

test("a head that is switched off stays where it is until the order is asked for again", async () => {
  const page = await explore({ sort: "previous" });
  const [best] = names(page);
  const again = page.get("sort-again");
  assert.equal(again.style.visibility, "hidden");
  page.click(/** @type {Element} */ (thumbs(page)[0].querySelector(".dot")));
  await until(() => again.style.visibility === "visible");
  assert.equal(names(page)[0], best);
  assert.ok(thumbs(page)[0].classList.contains("off"));
  assert.match(thumbs(page)[0].ariaLabel ?? "", /, off$/);
  assert.equal(ranks(page)[0], -1);
  page.click(again);
  assert.equal(names(page).at(-1), best);
  assert.equal(again.style.visibility, "hidden");
});

test("heads come in the order of the weight from one token to another", async () => {
  const page = await explore();
  page.click(chips(page)[6]);
  page.fill("sort", "query_key");
  page.fill("pair-key", "3");
  await until(() => page.questions.some(({ route, body }) => route === "query_key_weights" && body.key === 3));
  await settle();
  assert.equal(page.one("[data-testid=sort] option[value=query_key]").textContent, "“lamp” looks at “pan”");
  assert.ok(isSorted(ranks(page)));
  const [first] = ranks(page);
  page.click(thumbs(page)[0]);
  await settle();
  assert.ok(Math.abs(100 * Number(/weight (0?\.\d+|1)/.exec(page.text("reading"))?.[1]) - first) < 0.1);
  const before = names(page);
  page.fill("pair-key", "1");
  await settle();
  assert.ok(isSorted(ranks(page)));
  assert.notDeepEqual(names(page), before);
  page.fill("pair-query", "0");
  await settle();
  assert.equal(page.text("pair-trouble"), "The mask hides cat from <|endoftext|>.");
});

test("a cell of the map is another pair, and moves no head", async () => {
  const page = await explore({ sort: "query_key", query: 6, key: 3, pinned: [6], layer: 1, head: 1 });
  await settle();
  const before = names(page);
  for (const key of ["ArrowLeft", "Enter"]) page.press(key, "stage");
  await settle();
  assert.notEqual(/** @type {HTMLSelectElement} */ (page.get("pair-key")).value, "3");
  assert.equal(page.get("sort-again").style.visibility, "visible");
  assert.deepEqual(names(page), before);
  assert.equal(page.all(".chip.key").length, 1);
});

test("heads are selected together, and switched off together", async () => {
  const page = await explore();
  page.click("head-0-2");
  page.click("head-1-1", { shiftKey: true });
  await settle();
  assert.equal(page.text("head-title"), "2 heads");
  assert.match(page.text("rules"), /mean of 2 heads/);
  page.press("ArrowRight", "head-1-1"); // moves the focus; the selection stays
  assert.equal(page.focused?.dataset.testid, "head-1-2");
  page.press("Enter", null, { shiftKey: true });
  assert.deepEqual(page.all("[data-testid=selected-heads] .pill").map(wordsOf), [
    "L0 H2",
    "L1 H1",
    "L1 H2",
    "Clear selection",
  ]);
  page.click("plot-lines");
  await settle();
  assert.match(page.text("rules"), /a colour for each head/);
  page.click("head-switch");
  await until(() => page.reports.at(-1)?.edits?.length === 3);
  assert.deepEqual(page.reports.at(-1)?.edits, [
    "decoder.0.self.weights[2]=set:0",
    "decoder.1.self.weights[1]=set:0",
    "decoder.1.self.weights[2]=set:0",
  ]);
  assert.equal(page.text("reading"), "These heads are switched off: they have no effect.");
  page.click("clear-selection");
  assert.ok(!page.shows("selected-heads"));
});

test("a layer is switched off at once, and one of its heads on again", async () => {
  const page = await explore();
  const off = () => page.all(".thumb.off").map(({ dataset }) => dataset.testid);
  page.click("switch-layer-1");
  await settle();
  assert.deepEqual(off(), BY_LAYER.slice(4));
  assert.deepEqual(page.reports.at(-1)?.edits, ["decoder.1.self.weights=set:0"]);
  assert.equal(page.get("switch-layer-1").ariaLabel, "Switch all heads of layer 1 on");
  page.click("switch-1-2");
  await settle();
  assert.deepEqual(off(), ["head-1-0", "head-1-1", "head-1-3"]);
  page.click("layer-1");
  assert.equal(page.text("head-title"), "4 heads");
  page.press("l", "head-1-2"); // all are selected, so the key deselects them
  assert.match(page.text("head-title"), /^Layer 1 · Head/);
  page.press("l");
  assert.equal(page.all("[data-testid=selected-heads] button").length, 5);
  page.press("Escape");
  assert.ok(!page.shows("selected-heads"));
});

test("keys switch a head, its layer, and choose heads row by row", async () => {
  const page = await explore({ layer: 0, head: 0 });
  for (const key of ["ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight", "ArrowDown"])
    page.press(key, page.one(".thumb[tabindex='0']"));
  assert.equal(page.text("head-title"), "Layer 1 · Head 1");
  assert.equal(page.focused?.dataset.testid, "head-1-1");
  page.press("o");
  await settle();
  assert.equal(page.get("head-switch").ariaChecked, "false");
  assert.equal(page.text("reading"), "This head is switched off: it has no effect.");
  page.press("o");
  await settle();
  assert.equal(page.get("head-switch").ariaChecked, "true");
  page.press("O");
  await settle();
  assert.equal(page.all(".thumb.off").length, 4);
  page.press("ArrowUp", null, { ctrlKey: true }); // only the focus moves
  assert.equal(page.focused?.dataset.testid, "head-0-1");
  assert.equal(page.text("head-title"), "Layer 1 · Head 1");
});

test("with Alt, a click subtracts a head", async () => {
  const page = await explore({ layer: 1, head: 1 });
  page.click("head-0-3", { altKey: true });
  await settle();
  assert.match(page.text("rules"), /layer 0, head 3/);
  assert.equal(/** @type {HTMLSelectElement} */ (page.get("other-head")).value, "0.3");
  page.fill("other-head", "1.1");
  await settle();
  assert.match(page.text("reading"), /no value here is large/); // a head does not differ from itself
});

test("what is locked in one plot is marked in all of them", async () => {
  const page = await explore({ layer: 1, head: 1 });
  for (const key of ["ArrowUp", "Enter"]) page.press(key, "stage");
  await settle();
  assert.ok(chips(page)[5].classList.contains("locked"));
  assert.match(page.text("predictions"), /after cat \(position 5\)/);
  page.press("Enter", chips(page)[2], { shiftKey: true });
  page.get("tokens").querySelector(".chip")?.dispatchEvent(new Event("blur"));
  page.leave(chips(page)[2]);
  await settle();
  assert.match(page.text("reading"), /2 tokens, summed/);
  page.click("plot-text");
  await settle();
  assert.equal(page.all("[data-testid=prose] .word.locked").length, 2);
  assert.match(page.text("rules"), /strongest at the largest/);
  page.hover(page.all("[data-testid=prose] .word")[0]);
  assert.ok(chips(page)[0].classList.contains("key"));
  page.click("plot-table");
  await settle();
  assert.equal(page.all("[data-testid=sheet] tr.hot").length, 2);
  page.hover(page.all("[data-testid=sheet] td[data-col='1']")[2]);
  assert.deepEqual(page.all("[data-testid=sheet] th.hot").map(wordsOf), ["cat"]);
  page.press("Escape", "stage"); // forgets the pointer
  page.press("Escape", "stage");
  await settle();
  assert.equal(page.all(".chip.locked").length, 0);
  assert.equal(page.all("[data-testid=sheet] tr.hot").length, 1);
});

/** The numbers of the table; null in cells that are not shown. @param {Opened} page */
function numbers(page) {
  const rows = page.all("[data-testid=sheet] tbody tr");
  return rows.map((row) =>
    [...row.querySelectorAll("td")].map((cell) => (wordsOf(cell) ? Number(wordsOf(cell)) : null)),
  );
}

test("the table has a number for each allowed cell, and says what was done to them", async () => {
  const page = await explore({ layer: 1, head: 1, plot: "table" });
  await settle();
  const rows = numbers(page);
  assert.equal(rows.length, 7);
  for (const [place, row] of rows.entries()) {
    assert.ok(
      row.slice(place + 1).every((number) => number === null),
      "what is forbidden has no number",
    );
    const sum = row.slice(0, place + 1).reduce((total, number) => (total ?? 0) + (number ?? NaN), 0);
    assert.ok(Math.abs((sum ?? 0) - 1) < 0.004);
  }
  assert.equal(wordsOf(page.all("[data-testid=sheet] thead th")[1]), "cat");
  assert.equal(page.text("rules"), "attention weight");
  page.click("options-button");
  page.one("[data-testid=hide-first]").click();
  await settle();
  assert.match(page.text("rules"), /first token hidden, rows not renormalised/);
  page.get("renormalize").click();
  await settle();
  assert.match(page.text("rules"), /rows renormalised/);
  for (const [place, row] of numbers(page).entries())
    if (place) assert.ok(Math.abs(row.reduce((total, number) => (total ?? 0) + (number ?? 0), 0) ?? 0) - 1 < 0.004);
  page.fill("top-mass", "80");
  await settle();
  assert.match(page.text("rules"), /the largest of each row that make 80 %/);
  page.fill("unit", "words");
  await settle();
  assert.match(page.text("rules"), /sum over keys, mean over queries/);
  page.press("Escape", "unit");
  assert.ok(!page.shows("options"));
  assert.equal(page.focused?.dataset.testid, "options-button");
  page.click("options-button");
  page.click("reset-options");
  await settle();
  assert.equal(page.text("rules"), "attention weight");
});

test("metrics and plots that stay are not made anew", async () => {
  const page = await explore({ layer: 0, head: 1 });
  const buttons = () => page.all("[data-testid=metrics] button, [data-testid=plot] button");
  const before = buttons();
  page.click("plot-lines");
  assert.equal(page.get("plot-lines").ariaPressed, "true");
  assert.deepEqual(buttons(), before);
  page.click("head-1-1");
  assert.match(page.text("metrics"), /layer 1, head 1/);
  page.click("metric-previous");
  assert.equal(page.get("metric-previous").ariaPressed, "true");
});

test("other heads and plots are drawn without a new answer", async () => {
  const page = await explore({ layer: 0, head: 0 }, "induction", (route, answer) => {
    if (route === "trace") return answer;
    throw new TypeError("no network");
  });
  const canvas = page.get("head-canvas");
  const before = drawnOn(canvas).length;
  page.click("head-1-1");
  assert.match(page.text("reading"), /looks at/);
  for (const plot of ["lines", "text", "table", "heatmap"]) {
    page.click(`plot-${plot}`);
    assert.equal(page.get(`plot-${plot}`).ariaPressed, "true");
  }
  assert.ok(before);
  assert.equal(page.all("[data-testid=sheet] tbody tr").length, 7);
  page.click("head-0-2", { shiftKey: true });
  assert.match(page.text("rules"), /mean of 2 heads/);
});

test("colours end at 1, at the largest weight or at a percentile, for all heads alike", async () => {
  const page = await explore({ layer: 1, head: 1, hide: "first" });
  await settle();
  assert.equal(page.text("high"), "1");
  const said = page.text("reading");
  const count = page.questions.length;
  page.fill("colour-range", "largest");
  assert.match(page.text("high"), /^(0?\.\d+|1)$/);
  assert.equal(page.text("grid-high"), "1"); // in every head the first token looks only at itself
  page.fill("grid-colour-range", "percentile");
  assert.equal(/** @type {HTMLSelectElement} */ (page.get("colour-range")).value, "percentile");
  assert.match(page.text("grid-note"), /one scale for all heads/);
  assert.equal(page.text("reading"), said);
  assert.equal(page.questions.length, count, "the plots are drawn again without a question");
  page.fill("quantity", "scores");
  await settle();
  assert.ok(!page.shows("colour-range"));
  assert.equal(/** @type {HTMLSelectElement} */ (page.get("grid-colour-range")).value, "percentile");
});

test("every quantity says what it is", async () => {
  const page = await explore({ layer: 1, head: 1 });
  for (const [quantity, told] of /** @type {const} */ ([
    ["scores", /before mask/],
    ["masked_scores", /where the mask allows/],
    ["value_norm", /Kobayashi et al. 2020/],
    ["rollout", /Abnar & Zuidema 2020/],
    ["gradient", /log p of/],
    ["minus_head", /layer 1, head 2/],
  ])) {
    page.fill("quantity", quantity);
    await settle();
    assert.match(page.text("rules"), told);
    if (quantity === "gradient") assert.match(page.text("high"), /\+/);
  }
});

test("the chosen target token is the one of the gradient", async () => {
  const page = await explore({ layer: 1, head: 1, quantity: "gradient" });
  const candidate = page.all("[data-target]")[2];
  page.click(candidate);
  await settle();
  assert.match(page.text("rules"), new RegExp(`“${wordsOf(candidate).replace("·", "")}”`));
  assert.equal(page.all("[data-target][aria-pressed=true]").length, 1);
});

test("a difference that cannot be shown leaves no words of the plot before", async () => {
  const page = await explore({ layer: 1, head: 1, quantity: "minus_text" });
  await settle();
  assert.match(page.text("trouble"), /Type the text to compare with/);
  assert.ok(!page.shows("legend"));
  assert.ok(!page.shows("reading"));
  page.fill("other-text", "cat lamp");
  await settle();
  assert.match(page.text("trouble"), /equally many/);
  page.fill("other-text", WORDS.replace("pan", "dog"));
  await settle();
  assert.match(page.text("rules"), /other text/);
  assert.ok(page.shows("legend") && !page.shows("trouble"));
  page.fill("quantity", "minus_trained");
  await settle();
  assert.match(page.text("trouble"), /Nothing is changed yet/);
  page.click("head-switch");
  await settle();
  assert.match(page.text("rules"), /as trained/);
});

test("queries and keys lie in one plane, walked through by keys", async () => {
  const page = await explore({ layer: 1, head: 1, plot: "qk_projection" });
  await settle();
  const before = JSON.stringify(drawnOn(page.get("head-canvas")));
  page.press("ArrowUp", "stage");
  assert.match(page.text("reading"), /^(cat|lamp|pan|fan|<\|endoftext\|>)/);
  assert.notEqual(JSON.stringify(drawnOn(page.get("head-canvas"))), before);
});

test("a pair of sentences has four parts", async () => {
  const page = await explore(
    { text: "The dog ran. [SEP] The cat ran.", plot: "table", segments: "b-a" },
    "positions-encoder-rope",
  );
  await settle();
  assert.match(page.text("rules"), /only B → A/);
  assert.deepEqual(page.all("[data-testid=sheet] tbody th").map(wordsOf), ["The", "cat", "ran", ".", "[SEP]"]);
  assert.equal(page.all("[data-testid=sheet] thead th").map(wordsOf).at(-1), "[SEP]");
});

test("a long text turns its pages in the table, and every plot has all its tokens", async () => {
  const text = Array(9).fill("cat lamp pan fan fig").join(" ");
  const page = await explore({ text, plot: "table", layer: 1, head: 1 });
  await settle();
  assert.match(page.text("sheet"), /queries 32–45 of 46/);
  page.click(page.one("[aria-label='Earlier queries']"));
  assert.match(page.text("sheet"), /queries 0–31 of 46/);
  assert.ok(page.one("[aria-label='Earlier queries']").hasAttribute("disabled"));
  page.click("plot-text");
  await settle();
  assert.equal(page.all("[data-testid=prose] .word").length, 46);
  page.click("plot-lines");
  assert.match(page.text("reading"), /looks at/);
});

test("thumbnails are drawn anew for another text", async () => {
  const page = await explore();
  const drawn = () => JSON.stringify(drawnOn(page.one("canvas.thumbs")));
  const before = drawn();
  page.fill("sentence", "dog key map");
  await shown(page, "dog key map");
  assert.notEqual(drawn(), before);
});
