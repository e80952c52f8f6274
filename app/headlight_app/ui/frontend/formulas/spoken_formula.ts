// A formula in words, for reading aloud.

import { table } from "../dom/table.ts";

// biome-ignore format: a table
const SIGNS: Readonly<Record<string, string>> = table({
  "=": "equals", "+": "plus", "−": "minus", "·": "times", "×": "by", "/": "over", "⊙": "times", "∑": "the sum", "∏": "the product",
  "≤": "is at most", "≥": "is at least", "<": "is less than", ">": "is more than", "≠": "is not", "≈": "is about", "∝": "grows with",
  "∈": "in", "∼": "is drawn from", "→": "becomes", "←": "becomes", "↦": "becomes", "⇒": "so that", "∇": "the gradient", "∂": "d",
  "…": "and so on", "∞": "infinity", "′": "prime", "|": ",", "‖": ",", "(": ",", ")": ",", "[": ",", "]": ",",
  α: "alpha", β: "beta", γ: "gamma", ε: "epsilon", η: "eta", θ: "theta", λ: "lambda", μ: "mu", π: "pi", σ: "sigma", φ: "phi", ω: "omega",
});
const OVER = new Set(["the sum", "the product", "softmax", "max", "min", "the gradient"]); // read with "over" before their subscript

export function spokenFormula(formula: Element) {
  return spoken(formula)
    .replace(/[\s\u00a0]+/g, " ")
    .replace(/( ,)+/g, ",")
    .replace(/^[, ]+|[, ]+$/g, "");
}

function spoken(node: Element): string {
  const parts = [...node.children].map(spoken);
  const [base, second, third] = parts;
  switch (node.localName) {
    case "mfrac":
      return `${base} over ${second}`;
    case "msqrt":
      return `the root of ${parts.join(" ")}`;
    case "msub":
    case "munder":
      return withBelow(base, second);
    case "msup":
    case "mover":
      return withAbove(base, second);
    case "munderover":
      return `${base} over ${second} up to ${third} of`;
    case "msubsup":
      return withAbove(withBelow(base, second), third);
  }
  const text = node.textContent ?? "";
  return parts.length ? parts.join(" ") : (SIGNS[text] ?? text);
}

function withBelow(base: string, below: string) {
  return OVER.has(base.trim()) ? `${base} over ${below} of` : `${base} ${below}`;
}

function withAbove(base: string, above: string) {
  if (above === "T") return `${base} transposed`;
  return base.startsWith("the sum") || base.startsWith("the product")
    ? `${base} up to ${above}`
    : `${base} to the power of ${above}`;
}
