// The Generate page: step, go back, branch and fill masks, by mouse and by keyboard.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { PageExport } from "../../../app/headlight_app/ui/frontend/export/page_export.ts";
import { open, settle, until, wordsOf } from "../opened.js";

/** @import { Opened } from "../opened.js" */
/** @import { ShownView } from "../../../app/headlight_app/ui/frontend/export/types.ts" */

const PROMPT = "cat lamp pan fan cat";
const PASSAGES = "cat sun key moon\ndog key pan hat\ncat sun";
const GREEDY = { temperature: 0, top_k: 0, top_p: 1, seed: 0 };

/**
 * @param {Record<string, unknown>} [choice] @param {Record<string, unknown>} [sampling] @param {string} [model]
 * @param {Parameters<typeof open>[0]["change"]} [change] of each answer
 */
async function generate(choice = {}, sampling = {}, model = "induction", change = undefined) {
  const page = await open({
    module: "generate/frontend/main.ts",
    address: `generate?model=${model}`,
    choice: { text: PROMPT, ...choice },
    data: { sampling: { ...GREEDY, ...sampling } },
    change,
  });
  await ready(page);
  return page;
}

/** Waits until the next token's candidates are known. @param {Opened} page @param {number} [generated] */
async function ready(page, generated) {
  const { dataset } = page.get("generator");
  await until(() => dataset.known === "true" && (generated === undefined || dataset.generated === String(generated)));
  await settle();
}

/** @param {Opened} page @param {number} [times] */
async function step(page, times = 1) {
  for (let time = 0; time < times; time++) {
    const before = Number(page.get("generator").dataset.generated);
    page.click("step");
    await ready(page, before + 1);
  }
}

const words = (/** @type {Opened} */ page) => page.all("[data-testid=page] button.generated");
const candidates = (/** @type {Opened} */ page) => page.all("[data-testid=candidates] li button");

test("a step takes the sampled token, and the cache grows", async () => {
  const page = await generate({}, { temperature: 0.7, seed: 3 });
  assert.match(page.text("status"), /^6 of \d+ tokens/);
  const strip = () => page.all("[data-testid=cache-rows] .strip i").map(({ style }) => style.width);
  const [ahead, before] = [page.text("ahead"), strip()];
  await step(page);
  assert.deepEqual(words(page).map(wordsOf), [ahead]);
  assert.match(page.text("status"), /^7 of \d+ tokens/);
  assert.match(page.text("cache-rows"), /Cached for 7 tokens/);
  assert.match(page.text("times-words"), /read 1 of 7 tokens/);
  assert.notDeepEqual(strip(), before);
  page.click("use-cache");
  assert.equal(page.get("use-cache").ariaChecked, "false");
  await step(page);
  assert.match(page.text("times-words"), /read 8 of 8 tokens/);
});

test("another candidate makes a branch, and the old one is offered", async () => {
  const page = await generate();
  await step(page, 3);
  const first = words(page).map(wordsOf);
  page.click(words(page)[1]);
  await settle();
  assert.equal(page.text("next-title"), "Other candidates for this token");
  assert.match(candidates(page)[0].ariaLabel ?? "", new RegExp(`^·?${first[1].replace("·", "")}: `));
  assert.deepEqual(
    candidates(page).map(({ ariaPressed }) => ariaPressed === "true"),
    candidates(page).map((_, place) => place === 0),
  );
  page.click(candidates(page)[2]);
  await ready(page, 2);
  assert.equal(wordsOf(words(page)[0]), first[0]);
  assert.notEqual(wordsOf(words(page)[1]), first[1]);
  page.click(page.one("[data-testid=branches] button"));
  await ready(page, 3);
  assert.deepEqual(words(page).map(wordsOf), first);
  page.click("back");
  await ready(page, 2);
  page.click("restart");
  await ready(page, 0);
});

test("a candidate has its probability by the model and after the settings", async () => {
  const page = await generate({}, { temperature: 1, top_k: 3 });
  const filtered = () => candidates(page).filter((one) => /filtered out$/.test(one.ariaLabel ?? "")).length;
  assert.equal(filtered(), candidates(page).length - 3);
  assert.equal(page.all("[data-testid=candidates] .badge").length, 1);
  assert.match(page.text("candidates"), /Random number 0\.\d+: .* leave 3 of \d+ tokens/);
  page.fill("temperature", "0");
  await ready(page);
  assert.equal(filtered(), candidates(page).length - 1);
  assert.match(page.text("candidates"), /nothing is random/);
  assert.match(
    candidates(page)[0].ariaLabel ?? "",
    /^\S+: by the model [\d.]+ %, after sampling settings 100\.0 %, sampled$/,
  );
});

test("a prompt that cannot be read gets a sentence, and text never becomes markup", async () => {
  const page = await generate({ text: "The cat" }, {}, "positions-decoder-rope");
  page.fill("prompt", "");
  await settle();
  assert.match(page.text("problem"), /empty/);
  page.fill("prompt", "</script><b>x</b> 😀");
  await settle();
  await ready(page);
  assert.ok(!page.shows("problem"));
  assert.match(page.text("page"), /script/);
  assert.equal(page.get("page").querySelectorAll("b, script").length, 0);
});

test("masks are filled, and another word can be masked", async () => {
  const page = await generate({ text: "The cat [MASK]." }, {}, "positions-encoder-rope");
  assert.match(page.text("cache-rows"), /Nothing can be cached/);
  assert.equal(page.text("next-title"), "The most certain mask");
  await step(page);
  assert.equal(page.text("next-where"), "Every mask is filled.");
  assert.equal(page.get("step").ariaDisabled, "true");
  const cat = page.all("[data-testid=page] button").find((one) => /cat/.test(wordsOf(one)));
  page.click(/** @type {Element} */ (cat));
  await ready(page, 0);
  await step(page, 2);
  assert.equal(words(page).length, 2);
});

test("words, heads and candidates are chosen by keyboard alone", async () => {
  const page = await generate();
  await step(page, 2);
  page.press("ArrowLeft", words(page)[1]);
  page.press("Enter");
  await settle();
  assert.equal(words(page)[0].ariaPressed, "true");
  page.press("Escape");
  await settle();
  assert.equal(page.text("next-title"), "Next token");
  page.press("ArrowDown", "grid-0-0");
  page.press("ArrowRight");
  await settle();
  assert.match(page.text("attention-title"), /Layer 1 · Head 1/);
  page.press("ArrowDown", candidates(page)[0]);
  assert.equal(page.focused, candidates(page)[1]);
  page.press("Enter");
  await ready(page, 3);
});

test("the mean over the heads of a layer is named so, until a head is chosen", async () => {
  const page = await generate({ layer: 1, head: 2 });
  page.click("blend-layer");
  await settle();
  assert.equal(page.text("attention-title"), "Attention: Layer 1 · mean of its heads");
  assert.equal(page.reports.at(-1)?.blend, "layer");
  page.click("grid-1-1");
  await settle();
  assert.match(page.text("attention-title"), /Layer 1 · Head 1/);
  assert.equal(page.reports.at(-1)?.blend, "head");
});

test("deleting the passage that was copied from flips the word", async () => {
  const page = await generate({ text: PASSAGES });
  await until(() => page.text("copied-rows"));
  assert.match(page.text("copied-words"), /comes from passage 1: \u2068“cat sun key moon”\u2069/);
  const remove = (/** @type {number} */ passage) =>
    page.click(page.all("[data-testid=copied-rows] .bar-list button")[passage]);
  remove(1);
  await ready(page);
  assert.match(page.text("copied"), /^Where .* comes from.*the answer stays key.*Heads: /s);
  const back = [...page.get("copied-proof").querySelectorAll("button")].find((one) => wordsOf(one) === "Put it back");
  page.click(/** @type {Element} */ (back));
  await ready(page);
  assert.equal(/** @type {HTMLTextAreaElement} */ (page.get("prompt")).value, PASSAGES);
  remove(0);
  await ready(page);
  assert.match(page.text("copied-proof"), /and no longer key/);
});

test("a head that copied is chosen by a click", async () => {
  const page = await generate({ text: PASSAGES });
  await until(() => page.text("copied-rows"));
  const head = page.one("[data-testid=copied-rows] .changes-list button");
  page.click(head);
  await settle();
  const [, layer, number] = /layer (\d+), head (\d+)/.exec(wordsOf(head)) ?? [];
  assert.equal(page.text("attention-title"), `Attention: Layer ${layer} · Head ${number}`);
  assert.equal(page.all("[data-testid=copied-rows] .changes-list .marked").length, 1);
});

/** What the menu Export has, with the texts of each chart. @param {Opened} page */
async function exported(page) {
  /** @type {ShownView[]} */
  const views = [];
  const seen = mock.method(PageExport.prototype, "figure", (/** @type {ShownView} */ view) => {
    views.push(view);
    throw new Error("It is seen.");
  });
  page.click("export-menu-button");
  page.click("export-svg");
  await settle();
  seen.mock.restore();
  const [{ charts, tables }] = views;
  const drawn = Object.entries(charts).map(async ([name, chart]) => {
    const { figure } = (await chart()).draw(180, "");
    return [name, figure.shapes.flatMap((shape) => (shape.kind === "text" ? [shape.text] : [])).join(" ")];
  });
  const files = Object.entries(tables).map(([title, { name }]) => [title, name]);
  return { charts: Object.fromEntries(await Promise.all(drawn)), files: Object.fromEntries(files) };
}

for (const [text, passages] of /** @type {[string, string[]][]} */ ([
  ["cat sun key moon cat sun", ["1: cat sun key moon cat sun"]],
  [PASSAGES, ["1: cat sun key moon", "2: dog key pan hat", "3: cat sun"]],
]))
  test(`what is saved of a prompt has the same names, also with ${passages.length} passages`, async () => {
    const page = await generate({ text }, { temperature: 1 });
    await until(() => page.text("copied-words"));
    assert.equal(page.all("[data-testid=copied-rows] .bar-list").length, passages.length > 1 ? 1 : 0);
    const { charts, files } = await exported(page);
    assert.deepEqual(Object.keys(charts), ["steps and candidates", "attention of each step", "candidates", "passages"]);
    assert.deepEqual(files, {
      "All heads, this step": "generate heads",
      "Attention of each step": "generate attention",
      Candidates: "generate candidates",
      "Heads that copied": "copying heads",
      "Passages of the prompt": "passages",
    });
    for (const passage of passages) assert.ok(charts.passages.includes(passage), charts.passages);
    assert.match(charts.passages, /What each passage adds to the logit of .*copied.*in all/);
    assert.match(charts.candidates, /Candidates at position \d+.*by the model.*Random number 0\.\d+: .*\(rank \d+\)/);
  });

test("a sentence about the copies that cannot be traced is shown as it is", async () => {
  const sentence = "There is no W_Q.";
  const page = await generate({ text: PASSAGES }, {}, "induction", (route, answer) => {
    if (route === "copying") throw new Error(sentence);
    return answer;
  });
  await until(() => page.text("copied-words"));
  assert.equal(page.text("copied-words"), `Where it comes from${sentence}`);
  assert.equal(page.all("[data-testid=copied-words] sub").length, 0);
});

test("a click on candidates that are not about the shown step does nothing", async () => {
  const page = await generate();
  const old = candidates(page)[1];
  page.click("step");
  old.click();
  await ready(page, 1);
  assert.equal(words(page).length, 1);
});
