// The components around every page: the model variant, and the sheet of keys.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, settle, wordsOf } from "../opened.js";

/** @import { Opened } from "../opened.js" */

const ADDRESS = "frame?model=stories-causal";
const TRAINED = { masks: "", positional_encoding: "", attention_function: "", scale: "", pooling: "" };

/** @param {Record<string, string>} [variant] */
async function variant(variant = {}) {
  const module = "frame/frontend/model_variant.ts";
  const data = { variant: { ...TRAINED, ...variant } };
  const page = await open({ module, address: ADDRESS, component: "model_variant", data });
  await settle();
  return page;
}

/** @param {Opened} page @param {string} name */
const control = (page, name) => /** @type {HTMLSelectElement} */ (page.get(`variant-${name}`));
/** @param {Opened} page */
const chosen = (page) => page.reports.at(-1)?.variant;

test("a part of the model is replaced, and the model is as trained again", async () => {
  const page = await variant();
  page.fill(control(page, "attention_function"), "hardmax");
  assert.equal(control(page, "attention_function").value, "hardmax");
  assert.deepEqual(chosen(page), { ...TRAINED, attention_function: "hardmax" });
  page.click("as-trained");
  assert.deepEqual(chosen(page), TRAINED);
  assert.equal(control(page, "attention_function").value, "");
});

test("the scale is a switch that tells the truth", async () => {
  const page = await variant();
  const scale = control(page, "scale");
  assert.equal(scale.ariaChecked, "true");
  page.click(control(page, "scale"));
  assert.equal(chosen(page)?.scale, "off");
  assert.equal(control(page, "scale").ariaChecked, "false");
});

test("the key ? opens the sheet of keys, and its button closes it", async () => {
  const page = await open({ module: "frame/frontend/help.ts", address: ADDRESS, component: "help" });
  const sheet = /** @type {HTMLDialogElement} */ (page.get("help-sheet"));
  assert.ok(!sheet.open);
  assert.ok(page.shows("help-button"));
  page.press("?", document.body);
  assert.ok(sheet.open);
  assert.match(wordsOf(sheet), /Right click/);
  sheet.close();
  page.click("help-button");
  assert.ok(sheet.open);
  page.click(sheet); // beside its content
  assert.ok(!sheet.open);
});

test("a question mark in a text box is only a letter", async () => {
  const page = await open({ module: "frame/frontend/help.ts", address: ADDRESS, component: "help" });
  const box = document.createElement("textarea");
  page.place.append(box);
  page.press("?", box);
  assert.ok(!(/** @type {HTMLDialogElement} */ (page.get("help-sheet")).open));
});
