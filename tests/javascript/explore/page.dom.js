// Explore around its tabs: the sentence, tokens, examples, problems, links and what is announced.

import assert from "node:assert/strict";
import { test } from "node:test";
import { holdAnswer, settle, until, wordsOf } from "../opened.js";
import { chips, explore, shown, WORDS } from "./opened.js";

const HOSTILE = "</script><b>bold</b> 😀 שלום";

/** A page whose open head is switched off; the answer to that is held back until `release` is called. */
async function switchedOff() {
  let isHeld = false;
  const { released, release } = holdAnswer();
  const page = await explore({ layer: 1, head: 2 }, "induction", async (route, answer) => {
    if (isHeld && route === "trace") await released;
    return answer;
  });
  isHeld = true;
  page.click("head-switch");
  return { page, release };
}

test("typing draws tokens and the prediction of the new text", async () => {
  const page = await explore({ text: "cat lamp" });
  const before = page.text("predictions");
  page.fill("sentence", "cat lamp pan");
  await shown(page, "cat lamp pan");
  assert.deepEqual(chips(page).map(wordsOf), ["<|endoftext|>", "cat", "lamp", "pan"]);
  assert.notEqual(page.text("predictions"), before);
  assert.match(page.text("predictions"), /after pan \(position 3\)/);
  assert.match(page.text("status"), /^4 of \d+ tokens · \d+ ms$/);
  await until(() => page.reports.at(-1)?.text === "cat lamp pan");
});

test("tokens that read as before keep their chips, and the focus its place", async () => {
  const page = await explore({ text: "cat lamp pan fan" });
  const before = chips(page);
  page.fill("sentence", "cat lamp fig fan toy");
  await shown(page, "cat lamp fig fan toy");
  assert.deepEqual(
    chips(page).map((chip) => before.includes(chip)),
    [true, true, true, false, true, false],
  );
  page.press("ArrowLeft", chips(page)[5]);
  assert.equal(page.focused, chips(page)[4]);
  page.fill("sentence", "cat lamp");
  await shown(page, "cat lamp");
  assert.equal(page.all("[data-testid=tokens] .chip[tabindex='0']").length, 1);
  assert.equal(page.one("[data-testid=tokens] .chip[tabindex='0']"), chips(page)[0]);
});

test("a token is chosen by keyboard, and an answer leaves the focus where it was", async () => {
  const page = await explore();
  page.press("Enter", chips(page)[2]);
  await settle();
  assert.match(page.text("predictions"), /after lamp/);
  assert.equal(page.focused, chips(page)[2]);
  assert.equal(chips(page)[2].ariaPressed, "true");
  page.press("ArrowRight");
  assert.equal(page.focused, chips(page)[3]);
});

test("in other tabs no token stays marked that is no longer asked", async () => {
  const page = await explore({ text: "cat lamp", tab: "layers" });
  assert.equal(chips(page).at(-1)?.className, "chip query");
  page.fill("sentence", "cat lamp pan");
  await shown(page, "cat lamp pan");
  assert.equal(chips(page)[2].className, "chip");
});

test("an example is one click away, with a hint about its heads and the head that it speaks of", async () => {
  const page = await explore();
  const examples = page.all("[data-testid=examples] button");
  assert.ok(examples.length);
  const about = "Every part is interactive";
  assert.match(page.text("hint"), new RegExp(about));
  for (const { text, hint, sort } of page.data.examples) {
    const button = page.all("[data-testid=examples] button").find((one) => one.textContent === text);
    page.click(/** @type {Element} */ (button));
    await shown(page, text);
    assert.ok(page.text("hint").startsWith(hint.split(/[“*`]/)[0].trim()), page.text("hint"));
    assert.equal(/** @type {HTMLTextAreaElement} */ (page.get("sentence")).value, text);
    if (sort !== "layer") assert.ok(page.all(".thumb")[0].classList.contains("chosen"));
  }
  page.fill("sentence", WORDS);
  await shown(page, WORDS);
  assert.match(page.text("hint"), new RegExp(about));
});

test("tokens are text and never markup, in every part of the page", async () => {
  const page = await explore({ text: HOSTILE, plot: "table", token_ids: "1" }, "positions-decoder-rope");
  await settle();
  assert.match(page.text("tokens"), /<.*\/.*script/);
  for (const plot of ["table", "text", "lines"]) {
    page.click(`plot-${plot}`);
    await settle();
  }
  assert.ok(!page.all("b").some((bold) => /bold/.test(bold.textContent ?? "")));
  assert.equal(page.all("script").length, 0);
  assert.match(page.text("prose"), /😀/);
  assert.match(page.text("sheet"), /script/);
  const [right] = chips(page).filter((chip) => /[\u0590-\u05ff]/.test(chip.textContent ?? ""));
  assert.equal(right.querySelector("bdi")?.localName, "bdi", "its direction stays its own");
});

test("a text without an answer gets a sentence, and the page stays", async () => {
  const page = await explore();
  for (const [text, told] of [
    ["", /empty/],
    ["cat ".repeat(300), /at most/],
  ]) {
    page.fill("sentence", String(text));
    await settle();
    assert.match(page.text("problem"), /** @type {RegExp} */ (told));
    assert.equal(page.get("problem").role, "alert");
    assert.equal(page.get("sentence").ariaInvalid, "true");
    assert.ok(page.one(".answer").classList.contains("stale"));
  }
  page.fill("sentence", WORDS);
  await settle();
  assert.ok(!page.shows("problem"));
  assert.equal(page.get("sentence").ariaInvalid, "false");
  assert.ok(!page.one(".answer").classList.contains("stale"));
});

test("a click masks a token, and another shows it again", async () => {
  const page = await explore({ text: "The cat ran." }, "positions-encoder-rope");
  const cat = () => chips(page)[2];
  assert.equal(wordsOf(cat()), "·cat");
  page.click(cat());
  await settle();
  assert.equal(wordsOf(cat()), "[MASK]");
  assert.ok(cat().classList.contains("masked"));
  assert.match(page.text("predictions"), /Masked token/);
  assert.deepEqual(page.reports.at(-1)?.masked_positions, [2]);
  page.click(cat());
  await settle();
  assert.equal(wordsOf(cat()), "·cat");
});

test("a slow answer is not waited for", async () => {
  const { page, release } = await switchedOff();
  await until(() => page.text("latest") === "Head 2 of layer 1 off");
  assert.equal(page.get("head-switch").ariaChecked, "false");
  assert.ok(page.one(".instrument").classList.contains("waiting"));
  assert.doesNotMatch(page.text("predictions"), /with your changes/);
  release();
  await until(() => /with your changes/.test(page.text("predictions")));
  assert.ok(!page.one(".instrument").classList.contains("waiting"));
});

test("every choice is in the address and in what is reported", async () => {
  const page = await explore({ text: "cat lamp" });
  page.click("head-0-3");
  page.click("token-ids");
  page.fill("sentence", "cat lamp pan");
  await settle();
  const written = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries({ head: "3", text: "cat lamp pan", token_ids: "1" })) {
    assert.equal(written.get(name), value);
    assert.equal(String(page.reports.at(-1)?.[name]), value);
  }
  assert.equal(page.get("token-ids").ariaPressed, "true");
  assert.ok(page.get("tokens").classList.contains("with-ids"));
  assert.ok(chips(page).every(({ dataset }) => dataset.tokenId));
});

test("a variant of the model is said to be one", async () => {
  const variant = { masks: "", positional_encoding: "alibi", attention_function: "", scale: "", pooling: "" };
  const page = await explore({ variant });
  assert.match(page.text("notes"), /was not trained this way/);
  assert.match(wordsOf(page.one(".parts-bar .replaced")), /^Positions/);
});

test("mask and positions are lists in sight, a window has a width, and a custom mask begins as the one before", async () => {
  const page = await explore({});
  const masks = () => /** @type {HTMLSelectElement} */ (page.get("variant-masks"));
  const chosen = () => page.reports.at(-1)?.variant.masks;
  assert.match(wordsOf(page.get("parts")), /^MaskCausal · as trained.*PositionsRoPE \(rotary\) · as trained/);
  assert.ok(page.get("paint").hidden);
  page.fill(masks(), "causal+window");
  page.fill(page.get("variant-width"), "3");
  await settle();
  assert.equal(chosen(), "causal+window:3");
  page.fill(masks(), "painted");
  await settle();
  assert.equal(chosen(), "causal+window:3+painted:");
  assert.equal(page.get("paint").ariaExpanded, "true");
  assert.match(page.text("hint"), /no weight changes by more than 0\.01\.$/, "the cells of the mask before it");
  page.press("ArrowDown", page.get("variant-cells"));
  assert.match(page.text("variant-cell"), /sees “/);
  page.press("Escape", page.get("variant-cells"));
  assert.equal(page.get("paint").ariaExpanded, "false");
});

test("what a mask has changed in the head is said, until the text changes", async () => {
  const page = await explore({});
  assert.doesNotMatch(page.text("hint"), /Head/);
  page.fill(page.get("variant-masks"), "none");
  await settle();
  assert.match(page.text("hint"), /^Every token now sees the tokens after it\. Layer \d · Head \d: /);
  page.fill(page.get("sentence"), `${/** @type {HTMLTextAreaElement} */ (page.get("sentence")).value} a`);
  await settle();
  assert.doesNotMatch(page.text("hint"), /Head/);
});

test("a change of the model is announced with its prediction", async () => {
  const page = await explore({ layer: 1, head: 2 });
  page.click("head-switch");
  await settle();
  assert.match(
    page.text("announced"),
    /^Next token: \S+ [\d.]+ %, before [\d.]+ %\. Layer 1 · Head 2 is off: it looks at nothing$/,
  );
  assert.equal(page.get("announced").role, "status");
});

test("a run of the app before the answer leaves the announcement to the answer", async () => {
  const { page, release } = await switchedOff();
  page.rerun();
  await settle();
  assert.deepEqual(page.all("[data-testid=announced]").map(wordsOf).filter(Boolean), []);
  release();
  await settle();
  assert.match(page.text("announced"), /^Next token: .* Layer 1 · Head 2 is off: it looks at nothing$/);
});

test("a reading is live only while the focus is on a plot", async () => {
  const page = await explore();
  page.get("stage").dispatchEvent(new Event("focusin", { bubbles: true, composed: true }));
  assert.equal(page.get("reading").ariaLive, "polite");
  page.get("sentence").dispatchEvent(new Event("focusin", { bubbles: true, composed: true }));
  assert.equal(page.get("reading").ariaLive, "off");
});

test("a finger that presses on something with a title reads it", async () => {
  const page = await explore();
  await until(() => page.all("[data-testid=metrics] [title]").length > 0);
  const [metric] = page.all("[data-testid=metrics] [title]");
  const finger = { pointerType: "touch", bubbles: true, composed: true, clientX: 20, clientY: 30 };
  metric.dispatchEvent(new PointerEvent("pointerdown", finger));
  await settle();
  assert.equal(page.text("touch-hint"), metric.title);
  assert.ok(page.shows("touch-hint"));
  page.get("instrument").dispatchEvent(new PointerEvent("pointerdown", finger));
  assert.ok(!page.shows("touch-hint"));
});
