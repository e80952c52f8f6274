// Changes to the model: made in menus and in their panel, listed, switched, undone, redone, and read as text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { settle, wordsOf } from "../opened.js";
import { chips, explore } from "./opened.js";

/** @import { Opened } from "../opened.js" */

const OFF = "decoder.1.self.weights[2]=set:0";
const AT = { layer: 1, head: 2 };

/** @param {Opened} page */
const edits = (page) => page.reports.at(-1)?.edits;
/** @param {Opened} page */
const rows = (page) => page.all("[data-testid=edit-list] li").map(wordsOf);
/** A control of the open menu; the panel of changes has the same ones. @param {Opened} page @param {string} name */
const inMenu = (page, name) => page.one(`[data-testid=menu] [data-testid=${name}]`);
const open = (/** @type {Opened} */ page) => page.click("changes");

/** Presses keys for undo or redo outside of any box. @param {Opened} page @param {boolean} [redo] */
async function undo(page, redo = false) {
  page.press("z", "stage", { ctrlKey: true, shiftKey: redo });
  await settle();
}

test("a cell is hidden in its menu, and undone and redone by keys", async () => {
  const page = await explore(AT);
  assert.equal(page.text("changes"), "No changes");
  for (const key of ["ArrowUp", "ArrowRight"]) page.press(key, "stage");
  page.press("e", "stage");
  assert.match(page.text("menu"), /^“cat” looks at “<\|endoftext\|>”/);
  assert.equal(page.get("menu").role, "dialog");
  page.press("Enter", inMenu(page, "make-hidden"));
  await settle();
  assert.equal(page.text("changes"), "1 change");
  assert.match(page.text("latest"), /cannot see/);
  assert.match(page.text("predictions"), /with your changes/);
  assert.equal(wordsOf(inMenu(page, "make-hidden")), "Hide");
  assert.equal(inMenu(page, "make-hidden").ariaPressed, "true");
  page.click(inMenu(page, "scope-layer"));
  page.click(inMenu(page, "make-weightless"));
  await settle();
  assert.deepEqual(edits(page), ["decoder.1.self.mask[2,5,0]=set:0", "decoder.1.self.weights[:,5,0]=set:0"]);
  page.press("Escape", inMenu(page, "make-hidden"));
  assert.ok(!page.shows("menu"));
  assert.equal(page.focused?.dataset.testid, "stage");
  await undo(page);
  assert.equal(page.text("changes"), "1 change");
  await undo(page);
  assert.equal(page.text("changes"), "No changes");
  await undo(page, true);
  assert.deepEqual(edits(page), ["decoder.1.self.mask[2,5,0]=set:0"]);
});

test("a click elsewhere closes a menu, and a right click on the map opens one", async () => {
  const page = await explore(AT);
  page
    .get("head-canvas")
    .dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, composed: true, cancelable: true }));
  assert.ok(page.shows("menu"));
  page.click("status");
  assert.ok(!page.shows("menu"));
});

test("the key e opens the menus of a head and of a token", async () => {
  const page = await explore(AT);
  page.press("e", "head-1-2");
  page.press("Enter", inMenu(page, "make-even"));
  await settle();
  assert.deepEqual(edits(page), ["decoder.1.self.weights[2]=uniform"]);
  assert.equal(inMenu(page, "make-even").ariaPressed, "true");
  page.fill(inMenu(page, "make-heat"), "1");
  await settle();
  assert.match(page.text("latest"), /softmax temperature × 2$/);
  assert.equal(inMenu(page, "make-heat").ariaValueText, "× 2");
  page.press("Escape", inMenu(page, "make-heat"));
  assert.equal(page.focused?.dataset.testid, "head-1-2");
  page.press("e", chips(page)[3]);
  assert.match(page.text("menu"), /^Token 3 “pan”/);
  page.fill(inMenu(page, "make-stand"), "2.5");
  await settle();
  assert.equal(page.text("latest"), "Token 3 “pan” is at position 2.5");
  page.click(inMenu(page, "make-unseen"));
  await settle();
  assert.equal(edits(page)?.at(-1), "decoder.*.self.mask[:,:,3]=set:0");
});

test("a change that is listed keeps its buttons while other parts of the page are drawn", async () => {
  const page = await explore({ ...AT, edits: [OFF] });
  await open(page);
  const [row] = page.all("[data-testid=edit-list] li");
  page.click("head-0-0");
  await settle();
  assert.equal(page.all("[data-testid=edit-list] li")[0], row);
  page.click(`edit-switch-${OFF}`);
  await settle();
  assert.notEqual(page.all("[data-testid=edit-list] li")[0], row);
  assert.ok(!row.isConnected);
});

test("a change that a link lists twice has two rows, however often they are drawn", async () => {
  const page = await explore({ ...AT, edits: [OFF, OFF] });
  await open(page);
  assert.equal(rows(page).length, 2);
  page.click("head-0-0");
  await settle();
  assert.equal(rows(page).length, 2);
});

test("a stroke of a slider is one change", async () => {
  const page = await explore(AT);
  page.click("change-head");
  const slider = /** @type {HTMLInputElement} */ (inMenu(page, "make-heat"));
  for (const value of ["0.5", "1", "2"]) {
    slider.value = value;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  }
  slider.dispatchEvent(new Event("change", { bubbles: true }));
  await settle();
  assert.deepEqual(edits(page), ["decoder.1.self.scores[2]=scale:0.25"]);
  page.click("undo");
  await settle();
  assert.equal(page.text("changes"), "No changes");
});

test("any value is changed in the panel, also by a value of another text", async () => {
  const page = await explore(AT);
  open(page);
  assert.equal(page.get("changes").ariaExpanded, "true");
  page.click("make-value");
  await settle();
  assert.deepEqual(rows(page), ["Attention of layer 1 off×"]);
  const named = [.../** @type {HTMLSelectElement} */ (page.get("make-hook-point")).options];
  page.fill("make-hook-point", String(named.findIndex(({ text }) => text === "Residual stream")));
  page.fill("make-operation", "from:B");
  page.fill("make-place", "2");
  page.click("make-value");
  await settle();
  assert.match(page.text("problem"), /type that text beside it/);
  assert.equal(page.get("sentence").ariaInvalid, "true");
  page.fill("make-patch-from", "cat dog pan fan cat lamp");
  await settle();
  assert.ok(!page.shows("problem"));
  assert.match(rows(page)[1], /residual stream of the other text/);
  assert.equal(page.reports.at(-1)?.patch_from, "cat dog pan fan cat lamp");
});

test("a listed change is disabled, enabled, taken back, and all are cleared", async () => {
  const page = await explore(AT);
  page.click("head-switch");
  open(page);
  page.click("make-value");
  await settle();
  assert.deepEqual(rows(page), ["Head 2 of layer 1 off×", "Attention of layer 1 off×"]);
  const toggle = `edit-switch-${OFF}`;
  assert.equal(page.get(toggle).ariaLabel, "Head 2 of layer 1 off");
  page.click(toggle);
  await settle();
  assert.equal(page.text("changes"), "1 change");
  assert.deepEqual(rows(page), ["Attention of layer 1 off×", "Head 2 of layer 1 off×"]);
  assert.equal(page.get(toggle).ariaChecked, "false");
  assert.equal(page.get("head-switch").ariaChecked, "true");
  assert.deepEqual(page.reports.at(-1)?.disabled_edits, [OFF]);
  page.click(toggle);
  await settle();
  page.click(`edit-drop-${OFF}`);
  await settle();
  assert.deepEqual(rows(page), ["Attention of layer 1 off×"]);
  page.click("clear-edits");
  await settle();
  assert.equal(page.text("changes"), "No changes");
  assert.deepEqual(rows(page), []);
  page.click("undo");
  await settle();
  assert.equal(page.text("changes"), "1 change");
  page.press("Escape", "clear-edits");
  assert.ok(!page.shows("edits"));
  assert.equal(page.focused?.dataset.testid, "changes");
});

test("the list is text that can be written, and a line that is wrong is marked", async () => {
  const page = await explore(AT);
  open(page);
  page.click("edits-as-text");
  const box = /** @type {HTMLTextAreaElement} */ (page.get("edit-text"));
  box.value = `${OFF}\ndecoder.position_ids[5]=set:many\n# decoder.*.self.scale=set:1`;
  page.press("Enter", box, { ctrlKey: true });
  await settle();
  assert.match(page.text("problem"), /'many' in 'decoder.position_ids\[5\]=set:many' is not a number/);
  page.click("edits-as-text");
  const items = page.all("[data-testid=edit-list] li");
  assert.deepEqual(
    items.map(({ className }) => className),
    ["", "wrong", "aside"],
  );
  page.click("edit-drop-decoder.position_ids[5]=set:many");
  await settle();
  assert.ok(!page.shows("problem"));
  assert.equal(page.text("changes"), "1 change");
  page.press("z", "sentence", { ctrlKey: true }); // undoes typing, not a change
  await settle();
  assert.equal(page.text("changes"), "1 change");
});

test("a link may name values as TransformerLens does", async () => {
  const page = await explore({ ...AT, edits: ["blocks.1.attn.hook_pattern[2]=set:0"] });
  assert.equal(page.text("latest"), "Head 2 of layer 1 off");
  assert.equal(page.get("head-switch").ariaChecked, "false");
  page.click("undo");
  await settle();
  assert.equal(page.text("changes"), "No changes");
});

test("a change is shown before its answer, and its prediction before and after it", async () => {
  const page = await explore(AT);
  const best = page.one(".candidate");
  assert.match(best.ariaLabel ?? "", /^[a-z ]+: [\d.]+ %$/);
  assert.equal(page.all(".bars .difference").length, 0);
  page.click("head-switch");
  assert.equal(page.get("head-switch").ariaChecked, "true", "drawn with the answer, unless that is late");
  await settle();
  assert.equal(page.get("head-switch").ariaChecked, "false");
  const changed = page.all(".candidate");
  assert.ok(changed.every(({ ariaLabel }) => /: <?[\d.]+ %, before <?[\d.]+ %$/.test(ariaLabel ?? "")));
  for (const row of changed) {
    const [, sign, points] =
      /^(▲|▼|±) ([\d.]+)$/.exec(wordsOf(/** @type {Element} */ (row.querySelector(".difference")))) ?? [];
    const plain = row.title.replace(/·10⁻(.)/g, (_, power) => `e-${"⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(power)}`);
    const [after, before] = [...(plain.match(/[\d.]+(e-\d+)?/g) ?? [])].map(Number);
    assert.equal(Number(points), Number(Math.abs(100 * (after - before)).toFixed(1)));
    assert.equal(sign, Number(points) === 0 ? "±" : after > before ? "▲" : "▼");
  }
});

test("a head without which the answer moves much leads to what explains it, with the head on again", async () => {
  const page = await explore({ text: "cat sun key moon cat", edits: ["decoder.0.self.weights[1]=set:0"] });
  await settle();
  assert.match(page.text("offer"), /^Without layer 0, head 1 .* falls from \d.* With it switched on again:/s);
  page.click(/** @type {HTMLElement} */ (page.get("offer").querySelector("button:last-child")));
  await settle();
  assert.equal(page.shows("panel-layers"), true);
  assert.match(page.text("panel-layers"), /Without layer 0, head 1 the logit of/);
  assert.equal(page.text("changes"), "No changes");
  assert.equal(page.shows("offer"), false);
});

test("what other edits, and heads that move little, do is asked about no further", async () => {
  for (const edits of [["decoder.0.self.weights[0]=set:0"], ["decoder.0.self.weights[1]=set:0.5"]]) {
    const page = await explore({ text: "cat sun key moon cat", edits });
    await settle();
    assert.equal(page.text("changes"), "1 change");
    assert.ok(page.questions.every(({ body }) => body.analysis !== "offer"));
    assert.equal(page.shows("offer"), false);
  }
});
