// Formulas as spoken text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { spokenFormula } from "../../../app/headlight_app/course/frontend/formulas/spoken_formula.js";

/** An element of a formula, without a document. @param {string} localName @param {...(string | object)} parts */
function element(localName, ...parts) {
  const children = parts.filter((part) => typeof part !== "string");
  return /** @type {Element} */ (/** @type {unknown} */ ({ localName, children, textContent: parts.join("") }));
}

const letter = (/** @type {string} */ text) => element("mi", text);
const sign = (/** @type {string} */ text) => element("mo", text);

test("a formula is read in words", () => {
  const sum = element("msub", sign("∑"), letter("j"));
  const weighted = element("math", letter("o"), sign("="), sum, letter("a"), letter("v"));
  assert.equal(spokenFormula(weighted), "o equals the sum over j of a v");
  const product = element("mrow", letter("Q"), element("msup", letter("K"), letter("T")));
  const scaled = element("mfrac", product, element("msqrt", element("msub", letter("d"), letter("k"))));
  assert.equal(spokenFormula(scaled), "Q K transposed over the root of d k");
  const power = element("math", sign("("), element("msup", letter("e"), letter("θ")), sign(")"));
  assert.equal(spokenFormula(power), "e to the power of theta");
});
