// A sentence that describes the plot.

import { NO_LARGE_SHARE, quotedToken } from "../dom/dom.ts";
import { formatNumber, formatPercent } from "../dom/numbers.ts";
import { isOff } from "../state/head_ablation.ts";
import {
  columnSums,
  FORBIDDEN,
  formatValue,
  LEFT_OUT,
  magnitude,
  SHOWN,
  stateAt,
  valueAt,
} from "../state/head_matrix.ts";
import { currentGroup, selectedHeads } from "../state/head_selection.ts";
import { activeColumn, activeQueries, activeRows, queryTokens } from "../state/token_selection.ts";
import type { HeadMatrix, Page } from "../types.ts";

type NamedValue = { name: string; number: number };

/** Names the keys that the active queries look at, or the cell or key under the pointer. */
export function drawReadout(page: Page, matrix: HeadMatrix) {
  const { reading, canvas } = page.view.elements;
  const rows = activeRows(page, matrix);
  const column = activeColumn(page, matrix);
  const alone = page.state.pointer?.query === null && column !== undefined && !page.state.choice.pinned.length;
  canvas.ariaLabel = `${page.view.elements.title.textContent}: ${matrix.rules.join(", ")}`;
  const heads = selectedHeads(page);
  const group = currentGroup(page);
  if (
    ["weights", "moved"].includes(matrix.quantity.name) &&
    heads.every((one) => isOff(page.state.choice.edits, group, ...one))
  ) {
    return reading.replaceChildren(
      heads.length > 1
        ? "These heads are switched off: they have no effect."
        : "This head is switched off: it has no effect.",
    );
  }
  if (!rows.length)
    return reading.replaceChildren(quotedToken(queryTokens(page)[activeQueries(page)[0]]), " is hidden here.");
  if (alone) return reading.replaceChildren(...queriesReadout(matrix, column));
  if (column !== undefined) return reading.replaceChildren(...cellReadout(matrix, rows, column));
  reading.replaceChildren(...keysReadout(matrix, rows));
}

function quotedNames(names: string[]) {
  return names.flatMap((name, place) => [place ? " + " : "", quotedToken({ text: name })]);
}

function cellReadout(matrix: HeadMatrix, rows: number[], column: number) {
  const value =
    rows.length > 1 ? formatValue(matrix, columnSums(matrix, rows)[column]) : formatCell(matrix, rows[0], column);
  return [
    ...quotedNames(rows.map((row) => matrix.rows.labels[row])),
    " → ",
    quotedToken({ text: matrix.columns.labels[column] }),
    `  ${value}`,
  ];
}

function formatCell(matrix: HeadMatrix, row: number, column: number) {
  const state = stateAt(matrix, row, column);
  const number = valueAt(matrix, row, column);
  if (state === FORBIDDEN) return "may not attend (mask)";
  const name =
    matrix.quantity.name === "weights"
      ? "weight "
      : matrix.quantity.name === "moved"
        ? "moves "
        : matrix.quantity.name === "scores" || matrix.quantity.name === "masked_scores"
          ? "score "
          : "";
  return `${name}${formatValue(matrix, number)}${state === LEFT_OUT ? " (left out: too small)" : ""}`;
}

/** Whether a number is large enough to be named; for weights, more than 0.005 in every colour range. */
function isNotable(matrix: HeadMatrix, number: number) {
  return (matrix.scale === "probability" ? number : magnitude(matrix, number)) > 0.005;
}

/** The three largest numbers (by magnitude if signed) among those large enough to be named, with their names. */
function largestValues(matrix: HeadMatrix, numbers: number[], names: string[]) {
  const size = (number: number) => (matrix.signed ? Math.abs(number) : number);
  return numbers
    .map((number, line) => ({ name: names[line], number }))
    .filter(({ number }) => isNotable(matrix, number))
    .sort((one, other) => size(other.number) - size(one.number))
    .slice(0, 3);
}

function listedValues(matrix: HeadMatrix, list: NamedValue[]) {
  const number = (value: number) =>
    matrix.scale === "probability" ? formatPercent(value) : formatBrief(matrix, value);
  return list.flatMap((item, place) => [
    place ? ", " : " ",
    quotedToken({ text: item.name }),
    ` ${number(item.number)}`,
  ]);
}

/** Two significant digits and a sign, for running text. */
export function formatBrief(matrix: HeadMatrix, number: number) {
  return `${matrix.exact ? "" : "≈ "}${matrix.signed && number >= 0 ? "+" : ""}${formatNumber(number, 2)}`;
}

/** The keys that some rows look at. */
export function keysReadout(matrix: HeadMatrix, rows: number[]) {
  const list = largestValues(matrix, columnSums(matrix, rows), matrix.columns.labels);
  const who = quotedNames(rows.map((row) => matrix.rows.labels[row]));
  const several = rows.length > 1;
  const isShare = matrix.scale === "probability";
  const verb = isShare ? (several ? " look at" : " looks at") : ": most at";
  if (!list.length) return [...who, isShare ? `${verb} ${NO_LARGE_SHARE}.` : ": no value here is large."];
  return [...who, verb, ...listedValues(matrix, list), several ? ` (${rows.length} tokens, summed)` : ""];
}

/** The rows that look at a key. */
export function queriesReadout(matrix: HeadMatrix, column: number) {
  const numbers = matrix.rows.labels.map((_, row) =>
    stateAt(matrix, row, column) === SHOWN ? valueAt(matrix, row, column) : NaN,
  );
  const list = largestValues(matrix, numbers, matrix.rows.labels);
  const key = quotedToken({ text: matrix.columns.labels[column] });
  if (list.length) return [key, " is looked at by", ...listedValues(matrix, list)];
  return [key, matrix.scale === "probability" ? " gets more than 0.5 % from no token." : ": no value here is large."];
}
