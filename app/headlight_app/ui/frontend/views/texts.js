// Tokens as chips, tables of texts, formulas with numbers in them, and verdicts.

import { formatNumber } from "../charts/charts.js";
import { createElement, createHeading, inlineText, visibleText } from "../dom/dom.js";
import { fitFormulas } from "../formulas/fit_formulas.js";
import { createFormula } from "../formulas/formula.js";

/** @import { EquationsView, TableView, TokensView, VerdictView } from "./types.js" */

const LONG_WORD = /\S{20,}/; // may break anywhere, or it would leave no room for the other columns

/** @param {TokensView} view */
export function createTokens({ tokens, shades, below }) {
  return createElement("ol", "token-list", [
    ...tokens.map((token, index) => {
      const chip = createElement("bdi", "chip", visibleText(token));
      if (shades.length) chip.style.setProperty("--shade", `${Math.min(Math.max(shades[index], 0), 1) * 100}%`);
      const item = createElement("li", "", [chip]);
      if (below.length) item.append(createElement("span", "quiet", below[index]));
      return item;
    }),
  ]);
}

/** @param {TableView} view */
export function createTable({ columns, rows, digits, addresses }) {
  const head = createElement("tr", "", [...columns.map((title) => createHeading(title, "col"))]);
  const table = createElement("table", "facts", [
    head,
    ...rows.map(([name, ...cells], index) => {
      const line = createElement("tr", "", [
        createHeading(String(name), "row"),
        ...cells.map((cell) => {
          const number = typeof cell === "number" || /^(NaN|-?Infinity)$/.test(cell);
          const style = number ? "figure" : LONG_WORD.test(String(cell)) ? "long" : "";
          return createElement(
            "td",
            style,
            number ? formatNumber(Number(cell), digits) : cell && inlineText(String(cell)),
          );
        }),
      ]);
      if (addresses[index]) linkCell(line.lastElementChild, addresses[index]);
      return line;
    }),
  ]);
  return createElement("div", "scroll", [table]);
}

/** Makes the content of a cell an external link, in a new tab. @param {Element | null} cell @param {string} address */
function linkCell(cell, address) {
  const link = createElement("a", "screen-link", [], { href: address, target: "_blank", rel: "noopener noreferrer" });
  link.append(...(cell?.childNodes ?? []));
  cell?.append(link);
}

/** @param {EquationsView} view */
export function createEquations({ lines }) {
  const box = createElement("div", "equations scroll");
  box.append(...lines.map((line) => createElement("p", "", [createFormula(line)])));
  fitFormulas(box);
  return box;
}

/** @param {VerdictView} view */
export function createVerdict({ text, good }) {
  const sign = good === null ? "" : good ? "✓ " : "✗ ";
  const verdict = createElement("p", "verdict", `${sign}${text}`);
  if (good !== null) verdict.dataset.good = String(good);
  return verdict;
}
