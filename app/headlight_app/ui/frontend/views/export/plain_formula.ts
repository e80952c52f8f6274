// A formula as a line of text for print, where no browser lays out MathML: \frac{a+b}{2} becomes (a + b)/2.

import { createFormula } from "../../formulas/formula.ts";

const AFTER_NAME = "[mathvariant=normal] + mspace:last-child"; // the gap of a function
const CLOSING = /^\p{Pe}$/u;
const NEXT_TO = /^[\p{Ps}\p{Pe}|‖/′∂\u2207]$/u; // signs without spaces around them; the last is that of a gradient
const WHOLE = /^\([^()]*\)$/; // in parentheses already
const FACTOR = /^[√−∂]?[\p{L}\p{N}._^]*$/u; // needs none in a fraction
const SCRIPT = /^−?[\p{L}\p{N}.]*$/u; // needs none above or below
const [ENDING, BEGINNING] = [/[\p{L}\p{N}\p{Pe}]$/u, /^[√−∂\p{L}\p{N}\p{Ps}]/u]; // of factors
const [SCRIPTED, NAMED] = [/[_^](\([^()]*\)|[^\s()]*)$/u, /^\p{L}{2}/u]; // ends and starts that need a space between

export function plainFormula(latex: string) {
  return written(createFormula(latex))
    .replace(/ +/g, " ")
    .replace(/[ \u00a0](?=[,;)\]])|(?<=[([/])[ \u00a0]|(?<=\p{L}) (?=\()/gu, "")
    .replace(/[ \u00a0]+/g, " ") // gaps and the spaces of texts were kept apart until here
    .trim();
}

function written(node: Element): string {
  const parts = [...node.children].map(written);
  const [base, second, third] = parts;
  switch (node.localName) {
    case "mfrac":
      return `${grouped(base, FACTOR)}/${grouped(second, FACTOR)}`;
    case "msqrt":
      return `√${grouped(joined(node, parts), FACTOR)}`;
    case "msub":
      return `${base.trim()}_${grouped(second, SCRIPT)}${base.endsWith(" ") ? " " : ""}`;
    case "msup":
      return `${base}^${grouped(second, SCRIPT)}`;
    case "msubsup":
      return `${base}_${grouped(second, SCRIPT)}^${grouped(third, SCRIPT)}`;
    case "munder":
      return ` ${base.trim()}_${grouped(second, SCRIPT)} `;
    case "mover":
      return ` ${base.trim()}^${grouped(second, SCRIPT)} `;
    case "munderover":
      return ` ${base.trim()}_${grouped(second, SCRIPT)}^${grouped(third, SCRIPT)} `;
    case "mtable":
      return parts.join("; ");
    case "mtr":
      return parts.join(", ");
    case "mspace":
      return node.matches(AFTER_NAME) ? " " : "\u00a0";
    case "mo":
      return writtenSign(node);
  }
  const words = parts.length ? joined(node, parts) : (node.textContent ?? "");
  return node.querySelector(":scope > mtable") ? ` ${words} ` : words;
}

/** Factors side by side, apart where they would read as one. */
function joined({ children }: Element, parts: string[]) {
  return parts.reduce((left, right, place) => {
    const isPart = [...children]
      .slice(Math.max(place - 1, 0), place + 1)
      .some((child) => child.matches("mfrac, msqrt"));
    if (isPart && ENDING.test(left) && BEGINNING.test(right))
      return `${left}${/\d$/.test(left) && /^\d/.test(right) ? " · " : "\u00a0"}${right}`;
    const isFactor = SCRIPTED.test(left) && /^[\p{L}\p{N}]/u.test(right);
    const isName = /[\p{L}\p{N})]$/u.test(left) && NAMED.test(right);
    return `${left}${isFactor || isName ? " " : ""}${right}`;
  }, "");
}

/** A sign with spaces around it, unless it belongs to what follows. */
function writtenSign(node: Element) {
  const sign = node.textContent ?? "";
  const before = node.previousElementSibling;
  const isFirst = !before || (before.localName === "mo" && !CLOSING.test(before.textContent ?? ""));
  if (NEXT_TO.test(sign) || (isFirst && sign === "−")) return sign;
  return sign === "," || sign === ";" ? `${sign} ` : ` ${sign} `;
}

/** @param alone what needs no parentheses */
function grouped(words: string, alone: RegExp) {
  const inner = words.trim();
  return alone.test(inner) || WHOLE.test(inner) ? inner : `(${inner})`;
}
