// Converts formulas to MathML, from the part of LaTeX that the rows use.

import { createElement, QUOTED, sentenceNodes } from "../dom/dom.ts";
import { table } from "../dom/table.ts";
import { spokenFormula } from "./spoken_formula.ts";

const MATHML = "http://www.w3.org/1998/Math/MathML";
const TOKENS = /\\[A-Za-z]+|\\.|[{}^_&]|\d+(?:\.\d+)?|[A-Za-z]|\S/gu;
// biome-ignore format: a table
/** Commands that stand for a letter or a name. */
const LETTERS: Readonly<Record<string, string>> = table({
  alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", eta: "η", varepsilon: "ε", theta: "θ", lambda: "λ", mu: "μ", pi: "π",
  rho: "ρ", sigma: "σ", tau: "τ", phi: "φ", varphi: "φ", omega: "ω", Delta: "Δ", ell: "ℓ", infty: "∞",
});
// biome-ignore format: a table
/** Commands that stand for an operator. */
const OPERATORS: Readonly<Record<string, string>> = table({
  cdot: "·", times: "×", sum: "∑", prod: "∏", le: "≤", leq: "≤", ge: "≥", geq: "≥", ne: "≠", neq: "≠", in: "∈", approx: "≈",
  to: "→", leftarrow: "←", nabla: "∇", mapsto: "↦", odot: "⊙", oplus: "⊕", pm: "±", mid: "|", lfloor: "⌊", rfloor: "⌋", lVert: "‖", rVert: "‖", Vert: "‖",
  ldots: "…", dots: "…", cdots: "⋯", Rightarrow: "⇒", propto: "∝", sim: "∼", "{": "{", "}": "}", "|": "‖", partial: "∂",
});
/** Spaces in em. */
const SPACES: Readonly<Record<string, string>> = table({
  ",": "0.17em",
  ";": "0.28em",
  ":": "0.22em",
  " ": "0.33em",
  quad: "1em",
  qquad: "2em",
});
const NAMES = new Set(["max", "min", "log", "exp", "sin", "cos", "tanh", "arg", "argmax", "softmax", "Var", "ln"]);
const IGNORED = new Set(["textstyle", "displaystyle", "bigl", "bigr", "!"]);
const FENCES = new Set("()[]/"); // as tall as a letter; those after \left and \right stretch
const BARS = new Set(["|", "lVert", "rVert", "Vert"]); // around a value, without the gaps of a relation such as \mid
const WITH_LIMITS = new Set(["∑", "∏", "max", "min"]); // what is below and above them, rather than beside them
const TEXTS = new Set(["mathrm", "text", "operatorname", "mathbf", "mathit"]);

/** A LaTeX formula as an element; symbols whose names are in `names` are marked with their name. */
export function createFormula(latex: string, names: ReadonlySet<string> = new Set()): MathMLElement {
  const math = node("math", new Parser(latex, names).row());
  math.ariaLabel = spokenFormula(math);
  return math;
}

/** The name of a symbol in the table headlight.course.symbols. */
function nameOf(latex: string) {
  return latex.replace(/\\(?:mathrm|mathbf|text)|[{}\s]/g, "").replaceAll("^", "_");
}

/** The formulas of one row; each may wrap to its own line if there is little room. */
export function splitFormula(latex: string) {
  return latex.split(/,\s*\\q?quad\s*/);
}

function node(name: string, children: (Node | string)[] = []): MathMLElement {
  const element = document.createElementNS(MATHML, name) as MathMLElement;
  element.append(...children);
  return element;
}

class Parser {
  #tokens;
  #place = 0;
  #latex;
  #names;

  constructor(latex: string, names: ReadonlySet<string>) {
    this.#latex = latex;
    this.#names = names;
    this.#tokens = [...latex.matchAll(TOKENS)];
  }

  /** Parses up to a token that `ends` accepts, or to the end. */
  row(ends: (token: string) => boolean = () => false) {
    const found: MathMLElement[] = [];
    for (let token = this.#peek(); token !== undefined && !ends(token); token = this.#peek()) {
      const start = this.#place;
      const base = this.#atom();
      if (base) found.push(this.#withScripts(base, start));
    }
    return found;
  }

  #peek() {
    return this.#tokens[this.#place]?.[0];
  }

  #next() {
    return this.#tokens[this.#place++]?.[0] ?? "";
  }

  /** One argument: a group in braces, or a single token. */
  #argument(): MathMLElement {
    if (this.#peek() !== "{") return this.#atom() ?? node("mrow");
    this.#next();
    const inner = this.row((token) => token === "}");
    this.#next();
    return inner.length === 1 ? inner[0] : node("mrow", inner);
  }

  /** The raw text between braces. */
  #text() {
    if (this.#peek() !== "{") return this.#next();
    const start = (this.#tokens[this.#place].index ?? 0) + 1;
    while (this.#peek() !== undefined && this.#peek() !== "}") this.#next();
    const end = this.#tokens[this.#place]?.index ?? this.#latex.length;
    this.#next();
    return this.#latex.slice(start, end).replaceAll("\\ ", " ");
  }

  /** @param start index of its first token */
  #withScripts(base: MathMLElement, start: number) {
    const scripts: Record<string, MathMLElement> = {};
    const baseName = this.#nameSince(start);
    let name = "";
    while (this.#peek() === "_" || this.#peek() === "^") {
      scripts[this.#next()] = this.#argument();
      name ||= this.#nameSince(start);
    }
    const whole = withScripts(base, scripts._, scripts["^"]);
    if (this.#names.has(name)) whole.dataset.symbol = name;
    else if (this.#names.has(baseName)) base.dataset.symbol = baseName;
    return whole;
  }

  #nameSince(start: number) {
    const end = this.#tokens[this.#place]?.index ?? this.#latex.length;
    return nameOf(this.#latex.slice(this.#tokens[start].index, end));
  }

  /** @returns null if nothing is drawn */
  #atom(): MathMLElement | null {
    const token = this.#peek() ?? "";
    if (token === "{") return this.#argument();
    this.#next();
    if (token.startsWith("\\")) return this.#command(token.slice(1));
    if (/^\d/.test(token)) return node("mn", [token]);
    if (/^\p{L}$/u.test(token)) return node("mi", [token]);
    if (token === "'") return node("mo", ["′"]);
    return operator(token === "-" ? "−" : token, token);
  }

  #command(name: string): MathMLElement | null {
    if (IGNORED.has(name)) return null;
    if (name === "top") return upright("T"); // many fonts lack the symbol
    if (name === "frac") return node("mfrac", [this.#argument(), this.#argument()]);
    if (name === "sqrt") return node("msqrt", [this.#argument()]);
    if (name === "begin") return this.#matrix(this.#text());
    if (TEXTS.has(name)) return upright(this.#text());
    if (name in SPACES) return space(SPACES[name]);
    if (name === "left") return this.#fenced();
    if (name in OPERATORS) return operator(OPERATORS[name], name);
    return name in LETTERS ? node("mi", [LETTERS[name]]) : upright(name, NAMES.has(name));
  }

  /** `\left( … \right)`: brackets as tall as what is between them. */
  #fenced() {
    const opening = node("mo", [this.#next()]);
    const inner = this.row((token) => token === "\\right");
    this.#next();
    return node("mrow", [opening, ...inner, node("mo", [this.#next()])]);
  }

  /** `\begin{matrix} a & b \\ c & d \end{matrix}`; a bmatrix is in brackets, a pmatrix in parentheses. */
  #matrix(kind: string) {
    const rows: MathMLElement[][] = [[]];
    const ends = (token: string) => token === "&" || token === "\\\\" || token === "\\end";
    for (;;) {
      rows[rows.length - 1].push(node("mtd", this.row(ends)));
      const token = this.#next();
      if (token === "\\\\") rows.push([]);
      if (token !== "&" && token !== "\\\\") break;
    }
    this.#text();
    const table = node(
      "mtable",
      rows.map((cells) => node("mtr", cells)),
    );
    if (kind === "matrix") return table;
    const [opening, closing] = kind === "pmatrix" ? "()" : "[]";
    return node("mrow", [node("mo", [opening]), table, node("mo", [closing])]);
  }
}

function withScripts(base: MathMLElement, below?: MathMLElement, above?: MathMLElement) {
  const names = WITH_LIMITS.has(base.textContent ?? "")
    ? ["munder", "mover", "munderover"]
    : ["msub", "msup", "msubsup"];
  if (below && above) return node(names[2], [base, below, above]);
  if (below) return node(names[0], [base, below]);
  return above ? node(names[1], [base, above]) : base;
}

/** @param name in LaTeX */
function operator(sign: string, name: string) {
  const element = node("mo", [sign]);
  if (BARS.has(name) || FENCES.has(name)) element.setAttribute("stretchy", "false");
  if (BARS.has(name)) for (const side of ["lspace", "rspace"]) element.setAttribute(side, "0");
  return element;
}

/** A word set upright. @param isFunction a function's name, followed by a gap */
function upright(word: string, isFunction: boolean = false) {
  const element = node(/^\p{L}+$/u.test(word) ? "mi" : "mtext", [word.replaceAll(" ", "\u00a0")]); // MathML trims spaces
  element.setAttribute("mathvariant", "normal");
  return isFunction ? node("mrow", [element, space("0.17em")]) : element;
}

function space(width: string) {
  const element = node("mspace");
  element.setAttribute("width", width);
  return element;
}

/** The nodes of a title or sentence; names such as `W_Q` and `d_k` get a subscript. */
export function titleNodes(title: string) {
  return title.split(QUOTED).flatMap((part, odd) => (odd % 2 ? [part] : withSubscripts(part)));
}

function withSubscripts(words: string) {
  return words.split(/(?<=\b[A-Za-z])_([A-Za-z]+)\b/).flatMap((piece, odd) => {
    return odd % 2 ? [createElement("sub", "", piece)] : sentenceNodes(piece);
  });
}
