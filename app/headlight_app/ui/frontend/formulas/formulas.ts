// The formulas of a screen; a symbol is explained when the pointer is on it, and all are explained in a list.

import type { ScreenRow } from "../../../course/frontend/types.ts";
import { createElement } from "../dom/dom.ts";
import { fitFormulas } from "./fit_formulas.ts";
import { createFormula, splitFormula } from "./formula.ts";

const GAP = 4; // pixels between a symbol and its explanation

export function createFormulas({ formulas, symbols }: ScreenRow) {
  const names = new Set(symbols.map(({ name }) => name));
  const drawn = formulas.flatMap(splitFormula).map((formula) => createFormula(formula, names));
  const lines = createElement("div", "formulas", drawn);
  fitFormulas(lines);
  const block = createElement("div", "formula-block", [lines], { hidden: !formulas.length });
  if (!symbols.length) return block;
  const told = createElement("span", "symbol-told", "", { hidden: true, ariaHidden: "true" });
  block.append(told, createList(symbols));
  explainWherePointed(lines, told, new Map(symbols.map(({ name, words }) => [name, words])));
  return block;
}

/** A list of all symbols, also for the keyboard and screen readers. */
function createList(symbols: ScreenRow["symbols"]) {
  const rows = symbols.flatMap(({ latex, words }) => [
    createElement("dt", "", [createFormula(latex)]),
    createElement("dd", "", words),
  ]);
  const list = createElement("dl", "", rows);
  return createElement("details", "symbols", [createElement("summary", "", "What the symbols mean"), list]);
}

function explainWherePointed(lines: HTMLElement, told: HTMLElement, words: Map<string, string>) {
  let explained: Element | null = null;
  const explain = (target: EventTarget | null) => {
    const found = target instanceof Element ? target.closest("[data-symbol]") : null;
    if (found === explained) return;
    explained?.classList.remove("explained");
    explained = found;
    told.hidden = !(found instanceof MathMLElement);
    if (!(found instanceof MathMLElement)) return;
    found.classList.add("explained");
    told.textContent = words.get(found.dataset.symbol ?? "") ?? "";
    const [place, around] = [found.getBoundingClientRect(), lines.getBoundingClientRect()];
    told.style.top = `${place.bottom - around.top + GAP}px`;
    told.style.left = `${Math.max(0, Math.min(place.left - around.left, around.width - told.offsetWidth))}px`;
  };
  lines.addEventListener("pointerover", ({ target }) => explain(target));
  lines.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && explain(null));
  lines.addEventListener("pointerdown", ({ target }) => explain(target)); // a tap; beside symbols it hides the words
  lines.addEventListener("scroll", () => explain(null));
}
