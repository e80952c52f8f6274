// The descriptions of an answer in the views of the Tasks page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pointedWords } from "../../../app/headlight_app/tasks/frontend/alignment.js";
import { readText, sortedOutputs } from "../../../app/headlight_app/tasks/frontend/sort.js";

/** @param {string[]} answers @param {string[]} [asTrained] */
function labelled(answers, asTrained = answers) {
  const labels = answers.map((text) => [{ id: Number(text), text, before: 0.5, after: 0.5 }]);
  return { labels, as_trained: asTrained, changed: asTrained !== answers, names: [] };
}

test("a sorted answer is compared with the numbers in order", () => {
  const { outputs, right } = sortedOutputs(["17", "4", "99", "4"], labelled(["4", "4", "99", "99"]));
  assert.equal(right, 3);
  assert.deepEqual(
    outputs.map(({ wrong }) => wrong),
    [false, false, true, false],
  );
  assert.equal(outputs[2].note, "not 17");
  assert.equal(outputs[0].note, "50.0 %");
});

test("a note reports the tokens if they differ from the typed numbers", () => {
  assert.match(readText("1.5 0.2", ["1", "5", "0", "2"]), /not the numbers you typed.* read 1, 5, 0, 2\.$/);
  assert.match(readText("9 100", ["9", "[UNK]"]), /read 9, \[UNK\], where \[UNK\] is unknown text\.$/);
  assert.equal(readText(" 3  17\n4 ", ["3", "17", "4"]), "");
});

test("a place altered by a change shows its earlier value", () => {
  const { outputs } = sortedOutputs(["9", "4"], labelled(["9", "9"], ["4", "9"]));
  assert.deepEqual(
    outputs.map(({ note }) => note),
    ["was 4", "50.0 %"],
  );
});

test("nothing is right or wrong if the model did not read numbers", () => {
  const { outputs, right } = sortedOutputs(["[UNK]", "4"], labelled(["4", "4"]));
  assert.equal(right, 0);
  assert.ok(outputs.every(({ wrong }) => !wrong));
});

test("a token that hardly any output looks at is not said to be looked at for one", () => {
  const element = () => ({ textContent: "" });
  Object.assign(globalThis, { document: { createElement: element }, HTMLButtonElement: class {} });
  const alignment = /** @type {any} */ ({
    inputs: [{ text: "the" }, { text: "dog" }],
    outputs: [{ text: "le", query: 0 }],
    verb: "looks at",
  });
  const weights = /** @type {any} */ ({
    at: (/** @type {number} */ _, /** @type {number} */ key) => [0.003, 0.997][key],
  });
  const said = (/** @type {number} */ input) =>
    pointedWords(alignment, weights, { output: null, input })
      .map((word) => (typeof word === "string" ? word : word.textContent))
      .join("");
  assert.equal(said(0), "the was hardly looked at.");
  assert.equal(said(1), "dog was looked at for le 99.7 %.");
  const dark = pointedWords(alignment, /** @type {any} */ ({ at: () => 0 }), { output: 0, input: null });
  assert.equal(dark.at(-2), "no token with more than 0.5 %");
});
