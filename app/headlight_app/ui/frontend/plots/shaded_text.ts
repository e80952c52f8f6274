// The text itself, each token shaded by the weights of the active queries: for long texts and screen readers.

import { NEGATIVE_COLOUR } from "../charts/colours.ts";
import { closest, createElement, visibleText } from "../dom/dom.ts";
import { remembered } from "../dom/memory.ts";
import { columnSums, formatValue, shownMatrix, tokenLines, tokensAt } from "../state/head_matrix.ts";
import { currentGroup } from "../state/head_selection.ts";
import { activeColumn, activeRows } from "../state/token_selection.ts";
import { withPair } from "../text_box.ts";
import type { HeadMatrix, MatrixAxis, Page, Plot, Side } from "../types.ts";

const memory = remembered(() => ({ drawn: null as HeadMatrix | null, largest: 0 }));

export const SHADED_TEXT: Plot = { element: "prose", draw: drawShadedText, mark: shadeWords, tokenAt: wordTokenAt };

/** The number with the strongest shade. */
export function largestSum(page: Page) {
  return memory(page).largest;
}

function drawShadedText(page: Page, matrix: HeadMatrix) {
  const { prose } = page.view.elements;
  if (memory(page).drawn !== matrix) {
    memory(page).drawn = matrix;
    const { queries, keys } = currentGroup(page);
    const same = sameAxes(page, matrix);
    const looked = createParagraph(page, matrix.columns, keys, same ? "both" : "key");
    const title = (text: string) => createElement("h4", "", text);
    const looking = () => [title("Looking"), createParagraph(page, matrix.rows, queries, "query"), title("Looked at")];
    prose.replaceChildren(...(same ? [] : looking()), looked);
  }
  shadeWords(page, matrix);
}

/** Whether rows and columns are the same tokens, so that one copy of the text serves both. */
function sameAxes(page: Page, matrix: HeadMatrix) {
  const group = currentGroup(page);
  const [rows, columns] = [matrix.rows, matrix.columns].map((axis) => JSON.stringify(tokenLines(axis)));
  return group.queries === group.keys && rows === columns;
}

function createParagraph(page: Page, axis: MatrixAxis, which: Side, side: "query" | "key" | "both") {
  const text = createElement("p", "running", [], { dir: "auto" });
  axis.labels.forEach((name, line) => {
    const word = name.replace(/^ +(?=[^ ])/, "");
    const token = createElement("span", "word", visibleText(word), { dataset: { side, line: String(line) } });
    text.append(
      ...(line && hasSpaceBefore(page, axis, line, which) ? [" "] : []),
      token,
      ...(name.includes("\n") ? [createElement("br")] : []),
    );
  });
  return text;
}

/** Whether there is white space before a token: in its own piece, or in the text between it and the previous token. */
function hasSpaceBefore(page: Page, { labels, tokens }: MatrixAxis, line: number, which: Side) {
  const { question, tokens: ofText, source_tokens, made_text } = page.state.answer;
  const text = made_text || withPair(which === "source" ? question.source : question.text, question.text_pair);
  const all = (which === "source" && source_tokens) || ofText;
  const [before, here] = [all[tokens[line - 1].at(-1) ?? -1], all[tokens[line][0]]];
  return (
    /^\s/.test(labels[line]) || !before || !here || before.special || here.special || /\s/.test(text[before.end] ?? "")
  );
}

/**
 * The weight of each token, summed over the active queries, and its share of the largest sum, so that the small weights
 * of a long text can be distinguished.
 */
export function textShades(page: Page, matrix: HeadMatrix) {
  const rows = activeRows(page, matrix);
  const sums = columnSums(matrix, rows);
  const size = (sum: number) =>
    Number.isFinite(sum) ? Math.abs(matrix.scale === "linear" && !matrix.signed ? sum - matrix.low : sum) : 0;
  const most = Math.max(...sums.map(size), 1e-9);
  return { rows, sums, shares: sums.map((sum) => Math.sqrt(size(sum) / most)) };
}

/** The legend states the number of the strongest shade. */
function shadeWords(page: Page, matrix: HeadMatrix) {
  const { rows, sums, shares } = textShades(page, matrix);
  const column = activeColumn(page, matrix);
  memory(page).largest = Math.max(
    ...sums.map((sum) => (Number.isFinite(sum) ? (matrix.signed ? Math.abs(sum) : sum) : -Infinity)),
  );
  for (const token of page.view.elements.prose.querySelectorAll(".word") as NodeListOf<HTMLElement>) {
    const line = Number(token.dataset.line);
    const asks = token.dataset.side !== "key" && rows.includes(line);
    token.classList.toggle("query", asks);
    token.classList.toggle(
      "locked",
      asks && matrix.rows.tokens[line].some((place) => page.state.choice.pinned.includes(place)),
    );
    if (token.dataset.side === "query") continue;
    token.style.setProperty("--shade", `${Math.round(shares[line] * 100)}%`);
    token.style.setProperty("--tint", matrix.signed && sums[line] < 0 ? NEGATIVE_COLOUR : "var(--beam)");
    token.classList.toggle("faint", Number.isNaN(sums[line]));
    token.classList.toggle("key", line === column);
    token.title = formatValue(matrix, sums[line]);
  }
}

/** The token under the pointer: as a query, or if a row is locked, as a key of that row. */
function wordTokenAt(page: Page, event: MouseEvent, click: boolean = false) {
  const token = closest(event, ".word");
  const matrix = shownMatrix(page);
  if (!token || !matrix) return null;
  const { side, line } = token.dataset;
  const here = tokensAt(matrix, Number(line), Number(line));
  if (side === "key" || (side === "both" && page.state.choice.pinned.length && !click))
    return { query: null, key: here.key };
  return { query: here.query, key: null };
}
