// Formulas as MathML and as spoken text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFormula } from "../../../app/headlight_app/ui/frontend/formulas/formula.ts";
import { spokenFormula } from "../../../app/headlight_app/ui/frontend/formulas/spoken_formula.ts";

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
  assert.equal(spokenFormula(element("math", letter("constructor"))), "constructor");
});

/** An element that `createFormula` makes, as far as it needs one. */
class Made {
  /** @type {(Made | string)[]} */
  parts = [];
  /** @type {Record<string, string>} */
  attributes = {};
  dataset = {};

  /** @param {string} localName */
  constructor(localName) {
    this.localName = localName;
  }

  get children() {
    return this.parts.filter((part) => part instanceof Made);
  }

  /** @returns {string} */
  get textContent() {
    return this.parts.map((part) => (part instanceof Made ? part.textContent : part)).join("");
  }

  /** @param {...(Made | string)} parts */
  append(...parts) {
    this.parts.push(...parts);
  }

  /** @param {string} name @param {string} value */
  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  /** As tags and texts; a bracket that does not stretch is marked with a point. @returns {string} */
  toString() {
    const inside = this.parts.map(String).join(" ");
    if (this.localName === "mo") return this.attributes.stretchy === "false" ? `${inside}.` : inside;
    return ["mi", "mn"].includes(this.localName) ? inside : `${this.localName}<${inside}>`;
  }
}

test("a formula is set as in print", (context) => {
  const made = { createElementNS: (/** @type {string} */ _, /** @type {string} */ name) => new Made(name) };
  Object.assign(globalThis, { document: made });
  context.after(() => Reflect.deleteProperty(globalThis, "document"));
  for (const [latex, expected] of [
    ["f(x)", "math<f (. x ).>"],
    [String.raw`\constructor x`, "math<constructor x>"], // which every object inherits
    [String.raw`\left(\frac{a}{b}\right) c`, "math<mrow<( mfrac<a b> )> c>"],
    [String.raw`\sum_{j} a_j`, "math<munder<∑ j> msub<a j>>"],
    [String.raw`\prod_{s=1}^{T} W`, "math<munderover<∏ mrow<s = 1> T> W>"],
    ["x^2_i", "math<msubsup<x i 2>>"],
    [String.raw`\lVert x \rVert`, "math<‖. x ‖.>"],
    [String.raw`\begin{pmatrix} a & b \end{pmatrix}`, "math<mrow<( mtable<mtr<mtd<a> mtd<b>>> )>>"],
    [String.raw`\begin{bmatrix} a \end{bmatrix}`, "math<mrow<[ mtable<mtr<mtd<a>>> ]>>"],
  ])
    assert.equal(String(createFormula(latex)), expected);
  assert.equal(createFormula(String.raw`\sum_{j=1}^{n} a_j`).ariaLabel, "the sum over j equals 1 up to n of a j");
});
