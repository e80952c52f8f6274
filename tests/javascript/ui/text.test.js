// Tokens and numbers as a reader sees them.

import "../dom.js";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { divergingColour, extentOf, tokenOptions } from "../../../app/headlight_app/ui/frontend/charts/charts.ts";
import { inlineText, truncateText, visibleText } from "../../../app/headlight_app/ui/frontend/dom/dom.ts";
import {
  formatNumber,
  formatPercent,
  formatPlaces,
  formatShort,
  formatSigned,
} from "../../../app/headlight_app/ui/frontend/dom/numbers.ts";
import { titleNodes } from "../../../app/headlight_app/ui/frontend/formulas/formula.ts";
import { showProblem } from "../../../app/headlight_app/ui/frontend/questions.ts";
import { wordsOf } from "../opened.js";

test("white space and control characters are visible", () => {
  assert.equal(visibleText(" the cat\n\t"), "·the cat¶→");
  assert.equal(visibleText("chess board"), "chess board");
  assert.equal(visibleText("a  b "), "a··b·");
  assert.equal(visibleText("\0\x1b"), "␀␛");
  assert.equal(visibleText(""), "∅");
});

test("an option of a command in a sentence is a whole that does not break", () => {
  const nodes = titleNodes("Leave out --no-browser, or -h; x_i is -1 and well-known, “--shared x_i” is a quotation.");
  const options = nodes.flatMap((node) =>
    node instanceof Element && node.className === "option" ? [wordsOf(node)] : [],
  );
  assert.deepEqual(options, ["--no-browser", "-h"]);
  const problem = document.createElement("p");
  showProblem({ problem, answer: document.createElement("div") }, "Add --allow-host NAME to “--me”.");
  assert.equal(problem.innerHTML, 'Add <span class="option">--allow-host</span> NAME to “--me”.');
});

test("in running text a leading space is omitted, unless there is nothing else", () => {
  assert.equal(inlineText(" cat"), "cat");
  assert.equal(inlineText("  cat"), "·cat");
  assert.equal(inlineText(" "), "·");
});

test("numbers are written as by the server", () => {
  const written = JSON.parse(readFileSync(new URL("../../shown_numbers.json", import.meta.url), "utf8"));
  for (const [number, count, text] of written.digits) assert.equal(formatNumber(number, count), text);
  for (const [number, text] of written.signed) assert.equal(formatSigned(number), text);
  for (const [share, places, text] of written.percent) assert.equal(formatPercent(share, places), text);
  for (const [number, places, text] of written.places) assert.equal(formatPlaces(number, places), text);
});

test("shares are percentages; very small ones are shown as <0.1 %", () => {
  assert.deepEqual(
    [0, 0.0001, 0.0005, 0.1234, 1, Number.NaN, Infinity].map((share) => formatPercent(share)),
    ["0 %", "<0.1 %", "0.1 %", "12.3 %", "100.0 %", "–", "–"],
  );
});

test("a negative share keeps its sign and its size", () => {
  assert.deepEqual(
    [-0.702, -2.197, -0.0005, -0.0001].map((share) => formatPercent(share)),
    ["−70.2 %", "−219.7 %", "−0.1 %", ">−0.1 %"],
  );
});

test("numbers are short, with a true minus sign, and can be infinite", () => {
  assert.deepEqual(
    [0, 2.34567, -2.5, 0.00001, 123456, Number.NaN, -Infinity].map((number) => formatNumber(number)),
    ["0", "2.346", "−2.5", "1.00·10⁻⁵", "1.23·10⁵", "–", "−∞"],
  );
  assert.deepEqual([0.5, -0.5, 0].map(formatSigned), ["+0.5", "−0.5", "0"]);
  const short = (/** @type {number[]} */ numbers, /** @type {number} */ most) =>
    numbers.map((number) => formatShort(number, most));
  assert.deepEqual(short([0.5, -0.126, 0.001], 0.5), ["+0.50", "−0.13", "·"]);
  assert.deepEqual(short([0.02, -0.0012, 0.0001, 0], 0.02), ["+0.020", "−0.001", "·", "·"], "small ones");
  assert.deepEqual(short([2e-6, -3e-8, 1e-9], 2e-6), ["+2.00·10⁻⁶", "−3.00·10⁻⁸", "·"], "tiny ones");
});

test("a scale includes all finite numbers and zero", () => {
  assert.deepEqual(
    extentOf([
      [1, 3],
      [-2, Infinity],
    ]),
    { low: -2, high: 3 },
  );
  assert.deepEqual(extentOf([[0, 0]]), { low: 0, high: 1 });
  assert.deepEqual(extentOf([]), { low: 0, high: 1 });
});

test("positive and negative numbers of the same size have equally strong colours", () => {
  assert.equal(divergingColour(0.5).replace("beam", "minus"), divergingColour(-0.5));
  assert.equal(divergingColour(3), divergingColour(1));
  assert.match(divergingColour(0), / 0%/);
});

test("equal tokens are distinguished by their number", () => {
  assert.deepEqual(tokenOptions([{ text: " a" }, { text: " a" }]), [
    [0, "0  a"],
    [1, "1  a"],
  ]);
});

test("a text is cut between whole characters", () => {
  const context = /** @type {CanvasRenderingContext2D} */ ({ measureText: (text) => ({ width: [...text].length }) });
  assert.equal(truncateText(context, "😀😀😀", 3), "😀😀😀");
  assert.equal(truncateText(context, "😀😀😀😀", 3), "😀😀…");
});
