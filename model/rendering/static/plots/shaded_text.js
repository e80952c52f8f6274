// The text itself, each token shaded by what the queries at hand give it: for long texts and for reading aloud.

import { columnSums, formatValue, tokensAt } from "../state/head_matrix.js";
import { currentGrid } from "../state/head_selection.js";
import { activeRows, hoveredColumn } from "../state/token_selection.js";
import { NEGATIVE_COLOUR } from "../ui/colours.js";
import { createElement, visibleText } from "../ui/dom.js";

export function drawShadedText(self, view) {
  const { prose } = self.parts;
  if (self.prosed !== view) {
    self.prosed = view;
    const { queries, keys } = currentGrid(self);
    const same = sameAxes(self, view);
    const looked = createParagraph(self, view.columns, keys, same ? "both" : "key");
    prose.replaceChildren(...(same ? [looked] : [sectionTitle("Looking"), createParagraph(self, view.rows, queries, "query"), sectionTitle("Looked at"), looked]));
  }
  shadeWords(self, view);
}

/** Whether rows and columns are the same tokens, so that one copy of the text serves both. */
function sameAxes(self, view) {
  const grid = currentGrid(self);
  return grid.queries === grid.keys && JSON.stringify(view.rows.tokens) === JSON.stringify(view.columns.tokens);
}

function sectionTitle(title) {
  return createElement("h4", "", title);
}

function createParagraph(self, axis, which, side) {
  const text = createElement("p", "running");
  text.dir = "auto";
  axis.names.forEach((name, line) => {
    const word = name.replace(/^ +(?=[^ ])/, "");
    const token = createElement("span", "word", visibleText(word));
    token.dataset.side = side;
    token.dataset.line = line;
    text.append(...(line && hasSpaceBefore(self, axis, line, which) ? [" "] : []), token, ...(name.includes("\n") ? [createElement("br")] : []));
  });
  return text;
}

/** Whether white space stood before a token: in its own piece, or in the text after the token before. */
function hasSpaceBefore(self, { names, tokens }, line, which) {
  const { question, tokens: ofText, sourceTokens } = self.answer;
  const [text, all] = which === "source" ? [question.source, sourceTokens] : [question.text, ofText];
  const [before, here] = [all[tokens[line - 1].at(-1)], all[tokens[line][0]]];
  return /^\s/.test(names[line]) || !before || !here || before.special || here.special || /\s/.test(text[before.end] ?? "");
}

/** Shades by the share of the largest sum, so that a long text's small weights can be told apart; the legend says it. */
export function shadeWords(self, view) {
  const rows = activeRows(self, view);
  const sums = columnSums(view, rows);
  const column = hoveredColumn(self, view);
  const size = (sum) => (Number.isFinite(sum) ? Math.abs(view.scale === "linear" && !view.signed ? sum - view.low : sum) : 0);
  const most = Math.max(...sums.map(size), 1e-9);
  self.darkest = Math.max(...sums.map((sum) => (Number.isFinite(sum) ? (view.signed ? Math.abs(sum) : sum) : -Infinity)));
  for (const token of self.parts.prose.querySelectorAll(".word")) {
    const line = Number(token.dataset.line);
    const asks = token.dataset.side !== "key" && rows.includes(line);
    token.classList.toggle("query", asks);
    token.classList.toggle("locked", asks && view.rows.tokens[line].some((place) => self.choice.locked.includes(place)));
    if (token.dataset.side === "query") continue;
    token.style.setProperty("--shade", `${Math.round(Math.sqrt(size(sums[line]) / most) * 100)}%`);
    token.style.setProperty("--tint", view.signed && sums[line] < 0 ? NEGATIVE_COLOUR : "var(--beam)");
    token.classList.toggle("faint", Number.isNaN(sums[line]));
    token.classList.toggle("key", line === column);
    token.title = formatValue(view, sums[line]);
  }
}

/** Without a lock the pointer asks for a token's row; with one it asks what the locked row gives a token. */
export function wordTokenAt(self, event, click = false) {
  const token = event.target.closest(".word");
  if (!token) return null;
  const { side, line } = token.dataset;
  const here = tokensAt(self.shown, Number(line), Number(line));
  if (side === "key" || (side === "both" && self.choice.locked.length && !click)) return { query: null, key: here.key };
  return { query: here.query, key: null };
}
