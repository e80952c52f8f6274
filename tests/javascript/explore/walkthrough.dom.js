// The tab "Step by step": one head, one query and one key, then the prediction, by mouse and by keyboard.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WIDTH } from "../dom.js";
import { settle, wordsOf } from "../opened.js";
import { explore } from "./opened.js";

/** @import { Opened } from "../opened.js" */

/** @param {Record<string, unknown>} choice */
async function walkthrough(choice) {
  const page = await explore(
    { text: "The cat ran and the", tab: "walkthrough", layer: 2, head: 1, ...choice },
    "positions-decoder-rope",
  );
  await settle();
  return page;
}

/** @param {Opened} page @param {string} name */
const select = (page, name) => /** @type {HTMLSelectElement} */ (page.get(name));

test("each step has a title, a formula, its shapes and the code that computed it", async () => {
  const page = await walkthrough({ step: "input" });
  const next = /** @type {HTMLButtonElement} */ (page.get("step-next"));
  assert.equal(page.text("stair-title"), "1. Input");
  assert.ok(/** @type {HTMLButtonElement} */ (page.get("step-back")).disabled);
  /** @type {string[]} */
  const titles = [];
  while (!next.disabled) {
    titles.push(page.text("stair-title"));
    assert.ok(page.text("stair-meaning"));
    assert.ok(page.all("[data-testid=stair-code] pre").length, titles.at(-1));
    assert.equal(page.all("[data-testid=stairs] [aria-selected=true]").length, 1);
    assert.equal(page.all("[data-testid=stairs] [tabindex='0']").length, 1);
    page.click(next);
    await settle();
    assert.notEqual(page.text("stair-title"), titles.at(-1));
  }
  assert.deepEqual(titles.map((title) => title.split(". ")[1]).slice(-3), [
    "After the last layer",
    "Compared with an answer",
    "Logits",
  ]);
  assert.equal(titles.length + 1, page.all("[data-testid=stairs] button").length);
  assert.match(page.text("steps-outcome-title"), /probabilities of the answers/);
});

test("the steps of the prediction are those of the chosen answer", async () => {
  const page = await walkthrough({ step: "logits" });
  const second = page.all(".candidate")[1];
  page.click(/** @type {Element} */ (second.querySelector("button")));
  await settle();
  const share = wordsOf(/** @type {Element} */ (second.querySelector(".number")));
  assert.ok(select(page, "steps-answer").selectedOptions[0].text.includes(share));
  page.press("ArrowLeft", "stair");
  await settle();
  assert.match(page.text("stair-title"), /Compared with an answer/);
  page.click("stair-weights");
  await settle();
  assert.match(page.text("stair-code"), /def normalize|softmax/);
  assert.match(page.text("steps-outcome-title"), /weights of all keys/);
  page.press("ArrowDown", "stair-weights");
  await settle();
  assert.equal(page.focused?.ariaSelected, "true");
  assert.notEqual(page.focused?.dataset.testid, "stair-weights");
});

test("another key has other numbers, previewed by the pointer and chosen by keys", async () => {
  const page = await walkthrough({ step: "scale" });
  const score = () => wordsOf(page.one("[data-testid=stair-scale] b"));
  const [most, before] = [Number(select(page, "steps-key").value), score()];
  const outcome = page.get("steps-outcome");
  const other = most === 0 ? 1 : 0;
  page.hover(outcome, { clientX: ((other + 0.5) / 6) * WIDTH, clientY: 20, offsetX: ((other + 0.5) / 6) * WIDTH });
  await settle();
  const previewed = score();
  page.leave(outcome);
  await settle();
  assert.notEqual(previewed, before);
  assert.equal(score(), before);
  page.press(most ? "ArrowLeft" : "ArrowRight", outcome);
  await settle();
  assert.equal(select(page, "steps-key").value, String(most ? most - 1 : 1));
  assert.notEqual(score(), before);
  assert.match(outcome.ariaLabel ?? "", /the largest is [\d.]+ %, of /);
});

test("the numbers of a step are read channel by channel, and multiply", async () => {
  const page = await walkthrough({ step: "multiply" });
  const bars = page.all("[data-testid=stair-values] canvas");
  assert.equal(bars.length, 3);
  page.press("ArrowRight", bars[0]);
  const reading = page.text("stair-reading");
  assert.match(reading, /channel 0/);
  const told = [...reading.matchAll(/ (−?[\d.]+(?:e−?\d+)?)(?= ·|$)/g)].map(([, one]) =>
    Number(one.replaceAll("−", "-")),
  );
  const [first, second, product] = told.slice(-3);
  assert.ok(Math.abs(first * second - product) <= 0.011 * Math.abs(product), reading);
});

test("a button and Escape lead back to the heads, but Escape at an open menu only closes it", async () => {
  for (const leave of ["button", "Escape"]) {
    const page = await walkthrough({ step: "weights" });
    for (const part of ["presenter-menu", "presenter-menu-button"]) {
      page.click("presenter-menu-button");
      page.press("Escape", part);
      await settle();
      assert.ok(page.shows("stair") && page.get("presenter-menu").hidden, part);
    }
    if (leave === "button") page.click("back-to-heads");
    else document.body.dispatchEvent(new KeyboardEvent("keydown", { key: leave, bubbles: true, composed: true }));
    await settle();
    assert.ok(page.shows("stage") && !page.shows("stair"), leave);
    assert.equal(page.focused?.dataset.testid, "stage");
  }
});

test("what an edit changes is said at its step", async () => {
  const page = await walkthrough({ step: "weights", edits: ["decoder.2.self.weights[1]=uniform"] });
  assert.match(page.text("stair-formula"), /Changed here by an edit/);
});
