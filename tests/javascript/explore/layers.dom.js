// The tab "Layers": each analysis is drawn from its numbers, read by pointer and by keyboard, and leads on by a click.

import assert from "node:assert/strict";
import { test } from "node:test";
import { holdAnswer, settle, until, wordsOf } from "../opened.js";
import { chips, explore, shown } from "./opened.js";

/** @import { Answered, Opened } from "../opened.js" */

const TEXT = "The cat ran and the";
const MODEL = "positions-decoder-rope";

/**
 * @param {string} analysis @param {Record<string, unknown>} [choice]
 * @param {(route: string, answer: Answered) => Answered | Promise<Answered>} [change]
 */
async function layers(analysis, choice = {}, change) {
  const page = await explore({ text: TEXT, tab: "layers", analysis, ...choice }, MODEL, change);
  await settle();
  return page;
}

/** @param {Opened} page */
const best = (page) => wordsOf(page.one(".candidate .token")).replace(/^·/, "");
/** @param {Opened} page @param {string} name */
const chosenIn = (page, name) => /** @type {HTMLSelectElement} */ (page.get(name)).value;

/** @param {Opened} page */
const verdict = (page) => wordsOf(page.one(".depths [data-testid=view-verdict]"));

/** @param {Opened} page @param {number} depth @param {number} column */
const lensCell = (page, depth, column) =>
  page.one(`.depths [data-testid=view-matrix] td[data-row="${depth}"][data-column="${column}"] button`);

test("the logit lens ends with the prediction, and its cells are read and chosen", async () => {
  const page = await layers("logit_lens");
  const reading = () => page.text("view-note");
  assert.match(reading(), /^The answer/);
  const last = chips(page).length - 1;
  assert.equal(chosenIn(page, "layers-query"), String(last));
  assert.equal(wordsOf(lensCell(page, 3, last).children[0]), best(page));
  assert.equal(page.all(".depths [data-testid=view-matrix] td.marked").length, 4);
  assert.deepEqual(page.all(".depths [data-testid=view-matrix] th[scope=row]").map(wordsOf), [
    "Embedding",
    "After layer 0",
    "After layer 1",
    "The answer",
    "True next token",
  ]);
  page.hover(lensCell(page, 2, 2));
  assert.match(reading(), /^After layer 1/);
  page.click(lensCell(page, 2, 2));
  await settle();
  assert.equal(chosenIn(page, "layers-query"), "2");
  assert.match(wordsOf(page.one(".view-tokens .note")), /bits/);
  assert.ok(chips(page)[2].classList.contains("query"));
  page.press("ArrowUp", lensCell(page, 2, 2));
  assert.equal(page.focused, lensCell(page, 1, 2));
  assert.match(reading(), /^After layer 0/);
  assert.equal(page.all(".depths [data-testid=view-matrix] button[tabindex='0']").length, 1);
});

test("a table that is drawn anew leaves the reading to the keyboard", async () => {
  let isHeld = false;
  const { released, release } = holdAnswer();
  const page = await layers("logit_lens", {}, async (_, answer) => {
    if (isHeld) await released;
    return answer;
  });
  isHeld = true;
  page.click(lensCell(page, 2, 2));
  const before = lensCell(page, 2, 2);
  page.press("ArrowUp", before);
  release();
  await settle();
  assert.notEqual(lensCell(page, 2, 2), before);
  assert.equal(page.focused, lensCell(page, 1, 2));
  assert.match(page.text("view-note"), /^After layer 0/);
});

test("a token that is chosen is framed before the answer about it", async () => {
  const { released, release } = holdAnswer();
  let isHeld = false;
  const page = await layers("logit_lens", {}, async (route, answer) => {
    if (isHeld && route.endsWith("analysis")) await released;
    return answer;
  });
  isHeld = true;
  page.click(lensCell(page, 2, 2));
  await until(() => lensCell(page, 2, 2).classList.contains("chosen"));
  release();
});

test("what shows an earlier text stays, faded, until the next text is answered", async () => {
  const { released, release } = holdAnswer();
  let isHeld = false;
  const page = await layers("logit_lens", {}, async (route, answer) => {
    if (isHeld && route.endsWith("analysis")) await released;
    return answer;
  });
  const [table, words] = [page.one(".depths .view-matrix table"), wordsOf(page.one(".view-tokens .note"))];
  isHeld = true;
  page.fill("sentence", `${TEXT} dog`);
  await until(() => chips(page).length === 7);
  await until(() => page.get("analysis-views").ariaBusy === "true");
  assert.equal(page.one(".depths .view-matrix table"), table, "nothing is drawn again while one types");
  isHeld = false;
  release();
  await settle();
  assert.notEqual(wordsOf(page.one(".view-tokens .note")), words);
  assert.equal(page.get("analysis-views").ariaBusy, "false");
});

test("an analysis that takes long says that it is being computed, and why it is not there", async () => {
  const { released, release } = holdAnswer();
  const page = await layers("token_rankings", {}, async (route, answer) => {
    if (route === "long_analysis") await released;
    return answer;
  });
  assert.match(page.text("analysis-long"), /being computed/);
  release();
  await settle();
  assert.match(page.text("analysis-long"), /stand on/);
  const refused = await layers("information_flow", {}, (route, answer) =>
    route === "long_analysis" ? { ...answer, meta: { ...answer.meta, error: "A gate changes what moves." } } : answer,
  );
  assert.match(refused.text("analysis-long"), /A gate changes/);
  assert.ok(refused.shows("analysis-views"), "the slider can still be used");
});

test("a longer text is read a window at a time", async () => {
  const text = "The cat ran. ".repeat(10).trim();
  const page = await layers("logit_lens", { text });
  const words = () => page.text("analysis-views");
  assert.match(words(), /Tokens 32 to \d+ of 4\d/);
  page.click(button(page, /Earlier tokens/));
  await settle();
  assert.match(words(), /Tokens 0 to 31/);
  assert.equal(chosenIn(page, "layers-query"), "31");
  assert.ok(lensCell(page, 0, 5));
  assert.equal(button(page, /Earlier tokens/).ariaDisabled, "true");
  page.click(button(page, /Earlier tokens/));
  await settle();
  assert.match(words(), /Tokens 0 to 31/);
  button(page, /Later tokens/).focus();
  page.click(button(page, /Later tokens/));
  await settle();
  assert.match(words(), /Tokens 32 to/);
  assert.match(wordsOf(/** @type {Element} */ (page.focused)), /Later tokens/, "the focus stays on the button");
});

const HEAD_2_0 = "[aria-label='All components'] button[aria-label^='Layer 2, head 0']";
const NETWORK_2 = "[aria-label='All components'] button[aria-label^='Layer 2, feed-forward']";
/** @param {Opened} page @param {string} title of a view */
const view = (page, title) =>
  /** @type {HTMLElement} */ (
    page.all("figure").find((figure) => wordsOf(/** @type {Element} */ (figure.firstElementChild)).startsWith(title))
  );
/** @param {Opened} page @param {RegExp} name */
const button = (page, name) =>
  /** @type {HTMLElement} */ (page.all(".rows button").find((one) => name.test(wordsOf(one))));

test("contributions add up, and a click chooses the head", async () => {
  const page = await layers("logit_attribution");
  const [, logit, together] = /is (−?[\d.]+\d).*add up to (−?[\d.]+\d)/.exec(page.text("analysis-said")) ?? [];
  assert.equal(logit, together);
  const before = page.text("analysis-said");
  page.click(page.one(HEAD_2_0));
  await settle();
  assert.deepEqual([page.reports.at(-1)?.layer, page.reports.at(-1)?.head], [2, 0]);
  assert.ok(page.one(HEAD_2_0).classList.contains("chosen"));
  const targets = [.../** @type {HTMLSelectElement} */ (page.get("layers-target")).options];
  page.fill("layers-target", targets[3].value);
  await settle();
  assert.notEqual(page.text("analysis-said"), before);
  assert.equal(view(page, "What each feed-forward promotes").querySelectorAll("tr").length, 4);
  const total = view(page, "The largest").querySelector("li:last-child");
  assert.match(wordsOf(/** @type {Element} */ (total)), /^Together: the logit/);
});

test("a table that is drawn anew stays where it was scrolled to", async () => {
  const page = await layers("logit_attribution");
  const table = page.one("[aria-label='All components']");
  /** @type {HTMLElement} */ (table.parentElement).scrollLeft = 40;
  const targets = [.../** @type {HTMLSelectElement} */ (page.get("layers-target")).options];
  page.fill("layers-target", targets[3].value);
  await settle();
  const later = page.one("[aria-label='All components']");
  assert.notEqual(later, table, "its numbers are those of another answer");
  assert.equal(later.parentElement?.scrollLeft, 40);
});

test("a feed-forward opens its neurons, and one of them is switched off and on", async () => {
  const page = await layers("logit_attribution");
  page.click(page.one(NETWORK_2));
  await settle();
  assert.ok(page.one(NETWORK_2).closest("td")?.classList.contains("marked"));
  assert.ok(page.all(".depths .verdict").some((one) => /layer 2 adds .* its [\d,]+ neurons/.test(wordsOf(one))));
  const neurons = page.all(".depths .changes-list button").filter((one) => /^Neuron/.test(wordsOf(one)));
  const [, second] = neurons.map((one) => wordsOf(one).match(/\d+/)?.[0]);
  page.click(neurons[1]);
  await settle();
  assert.ok(page.all("h3").some((heading) => wordsOf(heading) === `Neuron ${second}`));
  assert.equal(page.reports.at(-1)?.neuron, `2.${second}`);
  assert.equal(view(page, "What its output vector writes").querySelectorAll("tr").length, 3);
  const tokens = () => wordsOf(view(page, "Which tokens activate it"));
  assert.match(tokens(), /Strongest at/);
  page.hover(/** @type {HTMLElement} */ (view(page, "Which tokens activate it").querySelector("bdi")));
  assert.doesNotMatch(tokens(), /Strongest at/);
  page.click(button(page, /^Switch off neuron/));
  await settle();
  assert.equal(button(page, /^Switch off neuron/).ariaPressed, "true");
  assert.match(tokens(), /It is 0 at every token\./);
  assert.deepEqual(page.reports.at(-1)?.edits, [`decoder.2.feed_forward.neurons[:,${second}]=set:0`]);
  assert.match(page.text("latest"), new RegExp(`Layer 2, feed-forward: neuron ${second} off`));
  page.click(button(page, /^Switch off neuron/));
  await settle();
  assert.match(tokens(), /Strongest at/);
  page.click(button(page, /^Close the neurons/));
  await settle();
  assert.ok(!page.all(".depths .verdict").some((one) => /neurons/.test(wordsOf(one))));
});

test("the flow of information is walked by keys, and a head is chosen in it", async () => {
  const page = await layers("information_flow");
  assert.match(page.text("view-note"), /shares/);
  page.press("ArrowRight", "flow");
  const [, layer, head] = /Layer (\d+):.*?takes.*?head (\d+)/.exec(page.text("view-note")) ?? [];
  assert.ok(layer);
  assert.equal(page.all(".chip.key").length, 1);
  page.press("Enter", "flow");
  await settle();
  assert.deepEqual(
    [page.reports.at(-1)?.layer, page.reports.at(-1)?.head].map((one) => one ?? 0),
    [Number(layer), Number(head)],
  );
});

test("a least share that is slid to is in the choice, and fewer lines are drawn", async () => {
  const page = await layers("information_flow");
  const lines = () => page.all("[data-testid=flow] path").length;
  const before = lines();
  page.fill(page.one(".rows input[type=range]"), "9");
  await settle();
  assert.equal(page.reports.at(-1)?.least_share, 12);
  assert.ok(lines() < before && lines() > 0);
  assert.match(page.text("analysis-long"), /at least 12 %/);
});

/** A cell of the only table. @param {Opened} page @param {string} words its name begins with */
const cell = (page, words) => page.one(`.rows table button[aria-label^='${words}']`);

test("all heads are switched off in turn, stopped and gone on with", async () => {
  let steps = 0;
  const { released, release } = holdAnswer();
  const page = await layers("head_ablation", {}, async (route, answer) => {
    if (route !== "analysis_step") return answer;
    steps++;
    if (steps === 2) await released;
    return steps === 1 ? { ...answer, meta: { ...answer.meta, done: 0.5 } } : answer;
  });
  page.click("analysis-start");
  await until(() => /of 12/.test(page.text("analysis-status")) && steps === 2);
  assert.equal(page.text("analysis-start"), "Stop");
  page.click("analysis-start");
  await until(() => page.text("analysis-start") === "Go on");
  release();
  page.click("analysis-start");
  await until(() => page.text("analysis-start") === "Done");
  assert.match(page.text("analysis-status"), /12 of 12 heads/);
  assert.equal(view(page, "The largest changes").querySelectorAll("li").length, 10);
  page.hover(cell(page, "Layer 2, head 1"));
  assert.match(page.text("view-note"), /^Layer 2, head 1: .*from [\d.]+ % to [\d.]+ %/);
});

test("values of another text are patched in turn, and a click keeps one", async () => {
  const page = await layers("patching", { text: "The cat ran" });
  const [kind, other] = ["select", "input[type=text]"].map((name) => page.one(`[data-testid=analysis-views] ${name}`));
  page.click("analysis-start");
  await settle();
  assert.match(page.text("analysis-status"), /Type another text/);
  page.fill(other, "The dog ran and");
  page.click("analysis-start");
  await settle();
  assert.match(page.text("analysis-status"), /have 4 and 5 tokens/);
  page.fill(other, "The dog ran");
  page.fill(kind, "5");
  await settle();
  assert.equal(page.reports.at(-1)?.patch, "residual");
  page.click("analysis-start");
  await until(() => page.text("analysis-start") === "Done");
  const only = () => cell(page, "Layer 0, token 2"); // the only different token, before the first layer
  assert.equal(wordsOf(only()), "+1.00");
  page.click(only());
  await settle();
  assert.equal(only().ariaPressed, "true"); // the map belongs to the run without patches, so it stays
  assert.equal(page.reports.at(-1)?.patch_from, "The dog ran");
  assert.match(page.text("latest"), /of the other text/);
  assert.equal(page.one("[data-testid=analysis-views] select"), kind, "controls stay while others use them");
});

test("a click on a cell leaves the run of the map going", async () => {
  let steps = 0;
  const { released, release } = holdAnswer();
  const choice = { text: "The cat ran", patch_from: "The dog ran", patch: "residual" };
  const page = await layers("patching", choice, async (route, answer) => {
    if (route !== "analysis_step") return answer;
    steps++;
    if (steps === 2) await released;
    return steps === 1 ? { ...answer, meta: { ...answer.meta, done: 0.5 } } : answer;
  });
  page.click("analysis-start");
  await until(() => steps === 2);
  page.click(cell(page, "Layer 0, token 2"));
  await settle();
  assert.equal(page.text("analysis-start"), "Stop");
  release();
  await until(() => page.text("analysis-start") === "Done");
  assert.equal(cell(page, "Layer 0, token 2").ariaPressed, "true");
});

test("an example for an earlier text is offered no longer, and the controls name the chosen head", async () => {
  let isHeld = false;
  const { released, release } = holdAnswer();
  const page = await layers("patching", { text: "The cat ran", layer: 2, head: 1 }, async (route, answer) => {
    if (isHeld && route === "long_analysis") await released;
    return answer;
  });
  assert.ok(button(page, /^Try: /));
  assert.match(page.text("analysis-views"), /queries of layer 2, head 1/);
  isHeld = true;
  page.fill("sentence", "The cat");
  await shown(page, "The cat");
  await settle();
  const offered = button(page, /^Try: /);
  release();
  assert.equal(offered, undefined);
});

test("heads are searched until the answer changes, applied and undone", async () => {
  const page = await layers("head_search");
  const before = best(page);
  page.click("analysis-start");
  await until(() => /the answer is/.test(page.text("analysis-said")));
  assert.equal(page.text("analysis-start"), "Done");
  const rows = () => [...view(page, "Probability of").querySelectorAll("li")];
  const share = wordsOf(/** @type {Element} */ (rows().at(-1)?.querySelector(".bar-number")));
  const found = rows().length;
  page.click(button(page, /^Switch these off/));
  await settle();
  assert.notEqual(best(page), before);
  assert.equal(button(page, /^Switch these off/).ariaPressed, "true");
  assert.equal(rows().length, found);
  assert.ok(page.all(".candidate").some((row) => wordsOf(row).includes(before) && wordsOf(row).includes(share)));
  page.click("undo");
  await settle();
  assert.equal(best(page), before);
  assert.equal(button(page, /^Switch these off/).ariaPressed, "false");
});

test("a removed head and the rankings of tokens are told in words and numbers", async () => {
  const page = await layers("head_removal", { layer: 1, head: 1 });
  assert.match(verdict(page), /Without layer 1, head 1/);
  assert.match(
    wordsOf(/** @type {Element} */ (page.all(".depths [data-testid=view-changes] li").at(-1))),
    /Without the head/,
  );
  page.click("analysis-token_rankings");
  await settle();
  assert.match(verdict(page), /Which tokens does .* stand on\?/);
  assert.equal(page.text("analysis-said"), verdict(page));
  assert.equal(page.all(".depths [data-testid=view-matrix] tr").length, 7);
  assert.equal(page.all(".depths [data-testid=view-lines]").length, 2);
});

test("a masked model has the analyses too", async () => {
  const page = await explore(
    { text: "The cat [MASK].", tab: "layers", analysis: "logit_attribution" },
    "positions-encoder-rope",
  );
  await settle();
  assert.match(page.text("analysis-said"), /add up to/);
  page.click("analysis-logit_lens");
  await settle();
  assert.match(page.text("view-matrix"), /Original token/);
});

test("the query and the key of each picture are marked among the tokens", async () => {
  const page = await explore({ text: TEXT, tab: "walkthrough", layer: 1, head: 1, query: 4, key: 2 }, MODEL);
  await settle();
  const marked = (/** @type {string} */ side) => page.all(`.chip.${side}`).map((chip) => chips(page).indexOf(chip));
  assert.deepEqual([marked("query"), marked("key")], [[4], [2]]);
  page.fill("steps-key", "3");
  await settle();
  assert.deepEqual(marked("key"), [3]);
  page.fill("steps-query", "5");
  await settle();
  assert.deepEqual(marked("query"), [5]);
  page.click("part-prediction");
  await settle();
  assert.deepEqual([marked("query"), marked("key")], [[5], []]);
});

test("another text has another answer", async () => {
  const page = await layers("logit_attribution");
  const before = page.text("analysis-said");
  page.fill("sentence", "The cat");
  await shown(page, "The cat");
  await settle();
  assert.notEqual(page.text("analysis-said"), before);
  assert.equal(chosenIn(page, "layers-query"), "2");
});

test("an explanation that arrives leaves what is pointed at in the open panel", async () => {
  const held = holdAnswer();
  const page = await explore(
    { text: TEXT, tab: "layers", analysis: "information_flow" },
    MODEL,
    async (route, answer) => {
      if (route === "analysis" && JSON.stringify(answer.meta).includes("Largest parts of the difference"))
        await held.released;
      return answer;
    },
  );
  await until(() => page.all("[data-testid=flow]").length);
  page.press("ArrowRight", page.get("flow"));
  const marked = () => page.all(".chip.key").length;
  assert.equal(marked(), 1);
  held.release();
  await settle();
  assert.ok(page.shows("why"));
  assert.equal(marked(), 1);
});
