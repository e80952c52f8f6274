// A translation's language token in its text, and the language's name in the menu.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inLanguage, languageName } from "../../../app/headlight_app/ui/frontend/dom/languages.ts";

const TOKENS = ["deu_Latn", "eng_Latn"];

test("a language replaces the one at the text's beginning", () => {
  assert.equal(inLanguage("deu_Latn Guten Tag", TOKENS, "eng_Latn"), "eng_Latn Guten Tag");
  assert.equal(inLanguage("Guten Tag", TOKENS, "deu_Latn"), "deu_Latn Guten Tag");
  assert.equal(inLanguage("  eng_Latn Hello", TOKENS, ""), "Hello");
  assert.equal(inLanguage("", TOKENS, "deu_Latn"), "deu_Latn");
});

test("languages have names in each family's spelling of the tokens", () => {
  assert.deepEqual(["__de__", "deu_Latn", "de_DE"].map(languageName), ["German", "German (Latin)", "German"]);
  assert.match(languageName("zho_Hant"), /Chinese/);
  assert.equal(languageName("__zz__"), "");
});
