// Models whose labels do not exclude each other, or whose answers are scores: what every part of the page says of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, settle, until, wordsOf } from "../opened.js";

/** @import { Opened } from "../opened.js" */

const TEXT = "the cat sat on the mat";
const PERCENT = /\d %/;

/** @param {string} model @param {Record<string, unknown>} [choice] */
async function explore(model, choice = {}) {
  const page = await open({
    module: "explore/frontend/main.ts",
    address: `explore?model=${model}`,
    file: "labels",
    choice: { text: TEXT, ...choice },
  });
  await until(() => page.one(".instrument").dataset.sentence === TEXT);
  await settle();
  return page;
}

/** @param {string} model @param {string} task */
async function tasks(model, task) {
  const page = await open({
    module: "tasks/frontend/main.ts",
    address: `tasks?model=${model}&task=${task}`,
    component: "tasks",
    file: "labels",
    choice: { task, text: TEXT },
  });
  await until(() => page.one(".instrument").dataset.painted && page.shows(`task-${task}`));
  await settle();
  return page;
}

/** The numbers of the predicted labels. @param {Opened} page */
const numbers = (page) => page.all("[data-testid^=prediction-] .number").map(wordsOf);
/** Everything that the page shows of an answer. @param {Opened} page */
const answerText = (page) => wordsOf(page.one("[data-testid=predictions]")) + page.text("part-prediction");

test("one logit is shown as a score and its sigmoid, never as 100 %", async () => {
  const page = await explore("reward");
  const [, score] = /Score (−?[\d.]+)\. Each label is true or not by itself/.exec(page.text("predictions")) ?? [];
  const sigmoid = 1 / (1 + Math.exp(-Number(score.replace("−", "-"))));
  assert.deepEqual(numbers(page), [`${(100 * sigmoid).toFixed(1)} %`]);
});

test("labels that do not exclude each other have a probability each", async () => {
  const page = await explore("topics");
  const sum = numbers(page).reduce((before, number) => before + Number.parseFloat(number), 0);
  assert.equal(numbers(page).length, 3);
  assert.ok(Math.abs(sum - 100) > 1);
  assert.match(page.text("predictions"), /is the sigmoid of its score/);
  assert.match(page.one("[data-testid^=prediction-] .candidate").title, /score −?[\d.]+/);
});

test("scores have no percent sign, and a negative one has its bar on the left of zero", async () => {
  const page = await explore("stars", { edits: ["encoder.1.self.weights[2]=set:0"] });
  assert.doesNotMatch(answerText(page), PERCENT);
  assert.doesNotMatch(answerText(page), /percentage|likel|probability\b(?!, and)/);
  for (const row of page.all("[data-testid^=prediction-] .candidate")) {
    const bar = /** @type {HTMLElement} */ (row.querySelector(".bar"));
    const track = /** @type {HTMLElement} */ (row.querySelector(".track"));
    const isNegative = wordsOf(/** @type {Element} */ (row.querySelector(".number"))).startsWith("−");
    const ends = Number.parseFloat(bar.style.left) + Number.parseFloat(bar.style.width);
    const zero = Number.parseFloat(track.style.getPropertyValue("--zero"));
    assert.ok(Math.abs((isNegative ? ends : Number.parseFloat(bar.style.left)) - zero) < 1e-6);
    assert.equal(bar.classList.contains("minus"), isNegative);
  }
  assert.match(page.text("predictions"), /▲▼ change of the score/);
});

test("a lone score has no bar", async () => {
  const page = await explore("rating");
  assert.equal(numbers(page).length, 1);
  assert.ok(page.all("[data-testid^=prediction-] .bar").every((bar) => bar.hidden));
});

test("the layers show scores, in colours on both sides of zero", async () => {
  const page = await explore("stars", { tab: "layers", analysis: "logit_lens" });
  assert.doesNotMatch(page.text("view-matrix"), PERCENT);
  assert.match(wordsOf(page.one(".view-matrix .legend")), /^−.*score of the highest answer, no colour at zero$/);
  assert.doesNotMatch(page.one(".view-matrix td[data-row]").style.background, /NaN/);
  const [best, ...others] = [.../** @type {HTMLSelectElement} */ (page.get("layers-target")).options].map(wordsOf);
  assert.equal(best, "the highest");
  assert.ok(others.every((words) => !PERCENT.test(words)));
  page.click("analysis-logit_attribution");
  await settle();
  assert.doesNotMatch(page.text("analysis-said"), /changes no probability/);
  page.click("analysis-head_ablation");
  await settle();
  page.click("analysis-start");
  await until(() => page.text("analysis-start") === "Done");
  page.hover(page.one(".rows table button[aria-label^='Layer 1, head 1']"));
  assert.match(page.text("view-note"), /^Layer 1, head 1: [+−]?[\d.]+(·10⁻[⁰¹²³⁴-⁹])?, from −?[\d.]+ to −?[\d.]+$/);
  assert.doesNotMatch(page.text("analysis-status"), PERCENT);
  const ranked = page
    .all(".depths [data-testid=view-changes] li")
    .map((row) => [/^−/.test(row.querySelector("output")?.textContent ?? ""), row.querySelector("i.minus") !== null]);
  assert.ok(
    ranked.some(([isNegative]) => isNegative) && ranked.every(([isNegative, isMinus]) => isNegative === isMinus),
  );
  page.click("analysis-head_search");
  await settle();
  page.click("analysis-start");
  await until(() => /scores, which do not take each other's place/.test(page.text("analysis-status")));
});

test("the steps end with the sigmoid, or with the scores", async () => {
  const sigmoid = await explore("topics", { tab: "walkthrough", step: "sigmoid" });
  assert.match(sigmoid.text("steps-outcome-title"), /probabilities of the answers/);
  assert.match(sigmoid.text("steps-answer"), PERCENT);
  const score = await explore("stars", { tab: "walkthrough", step: "logits" });
  assert.match(score.text("steps-outcome-title"), /scores of the answers/);
  assert.doesNotMatch(score.text("steps-answer"), PERCENT);
  assert.doesNotMatch(score.get("steps-outcome").ariaLabel ?? "", PERCENT);
});

test("a label of a text rests on tokens by its own number", async () => {
  const inTask = (/** @type {Opened} */ page, /** @type {string} */ selector) =>
    page.all(`.task:not([hidden]) ${selector}`);
  const wordsIn = (/** @type {Opened} */ page, /** @type {string} */ selector) =>
    inTask(page, selector).map(wordsOf).join(" ");
  const stars = await tasks("stars", "classify");
  await until(() => inTask(stars, ".token-chips .chip").length);
  assert.doesNotMatch(wordsIn(stars, ".view-bars"), PERCENT);
  assert.match(wordsIn(stars, ".view-row"), /its score falls/);
  const lost = inTask(stars, ".token-chips small").map(wordsOf);
  assert.ok(
    lost.every((words) => /^[+−]0\.0\d+$|^[+−][\d.]+·10⁻[⁰¹²³⁴-⁹]$/.test(words)),
    lost.join(" "),
  );
  const note = ".view-tokens [data-testid=view-note]";
  stars.hover(inTask(stars, ".token-chips .chip")[0]);
  assert.match(wordsIn(stars, note), /has −?[\d.]+ instead of −?[\d.]+$/);
  const topics = await tasks("topics", "classify");
  await until(() => inTask(topics, ".token-chips .chip").length);
  assert.match(wordsIn(topics, ".view-bars"), /the sigmoid of its score/);
  topics.hover(inTask(topics, ".token-chips .chip")[0]);
  const [, share] = /instead of ([\d.]+ %)/.exec(wordsIn(topics, note)) ?? [];
  assert.equal(share, wordsOf(inTask(topics, ".bar-number")[0]));
});

test("a token has a label only if it is likelier than not", async () => {
  const page = await tasks("replaced", "tag");
  await until(() => page.all(".token-chips .chip").length);
  const found = page.all(".token-chips .chip").map((chip) => [...chip.querySelectorAll("b, small")].map(wordsOf));
  for (const [label, words] of found) {
    const share = Number.parseFloat(words.match(/([\d.]+) %/)?.[1] ?? "");
    assert.equal(label, share >= 50 ? "replaced" : "–");
  }
  assert.ok(found.some(([label]) => label === "–") && found.some(([label]) => label === "replaced"));
});
