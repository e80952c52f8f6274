// The sentence that says in words what the picture shows.

import { FORBIDDEN, LEFT_OUT, SHOWN, columnSums, formatValue, magnitude, stateAt, valueAt } from "../state/head_matrix.js";
import { currentGrid, isOff, selectedHeads } from "../state/head_selection.js";
import { activeQueries, activeRows, hoveredColumn, queryTokens } from "../state/token_selection.js";
import { formatPercent, quotedToken } from "../ui/dom.js";

/** What the queries at hand look at, or the one cell, or the one key, under the pointer. */
export function drawReadout(self, view) {
  const { reading, canvas } = self.parts;
  const rows = activeRows(self, view);
  const column = hoveredColumn(self, view);
  const alone = self.hovered?.query === null && column !== undefined && !self.choice.locked.length;
  canvas.setAttribute("aria-label", `${self.parts.title.textContent}: ${view.said.join(", ")}`);
  const heads = selectedHeads(self);
  const grid = currentGrid(self);
  if (view.kind.name === "weights" && heads.every((one) => isOff(self, grid, ...one))) {
    return reading.replaceChildren(heads.length > 1 ? "These heads are switched off: they move nothing." : "This head is switched off: it moves nothing.");
  }
  if (!rows.length) return reading.replaceChildren(...quotedToken(queryTokens(self)[activeQueries(self)[0]]), " is hidden here.");
  if (alone) return reading.replaceChildren(...queriesReadout(view, column));
  if (column !== undefined) return reading.replaceChildren(...cellReadout(view, rows, column));
  reading.replaceChildren(...keysReadout(view, rows));
}

function quotedNames(names) {
  return names.flatMap((name, place) => [place ? " + " : "", ...quotedToken({ piece: name })]);
}

function cellReadout(view, rows, column) {
  const told = rows.length > 1 ? formatValue(view, columnSums(view, rows)[column]) : formatCell(view, rows[0], column);
  return [...quotedNames(rows.map((row) => view.rows.names[row])), " → ", ...quotedToken({ piece: view.columns.names[column] }), `  ${told}`];
}

function formatCell(view, row, column) {
  const state = stateAt(view, row, column);
  const number = valueAt(view, row, column);
  if (state === FORBIDDEN) return "may not attend (mask)";
  const name = view.kind.name === "weights" ? "weight " : view.kind.name === "scores" || view.kind.name === "masked" ? "score " : "";
  return `${name}${formatValue(view, number)}${state === LEFT_OUT ? " (left out: too small)" : ""}`;
}

/** The three that matter most, with their names. */
function largestValues(view, numbers, names) {
  const size = (number) => (view.signed ? Math.abs(number) : number);
  return numbers
    .map((number, line) => ({ name: names[line], number }))
    .filter(({ number }) => magnitude(view, number) > 0.005)
    .sort((one, other) => size(other.number) - size(one.number))
    .slice(0, 3);
}

function listedValues(view, list) {
  const number = (value) => (view.scale === "share" ? formatPercent(value) : formatBrief(view, value));
  return list.flatMap((item, place) => [place ? ", " : " ", ...quotedToken({ piece: item.name }), ` ${number(item.number)}`]);
}

/** Two digits and a sign, for running text. */
export function formatBrief(view, number) {
  return `${view.exact ? "" : "≈ "}${number < 0 ? "−" : view.signed ? "+" : ""}${Number(Math.abs(number).toPrecision(2))}`;
}

function keysReadout(view, rows) {
  const list = largestValues(view, columnSums(view, rows), view.columns.names);
  const who = quotedNames(rows.map((row) => view.rows.names[row]));
  const several = rows.length > 1;
  if (!list.length) return [...who, several ? " look at nothing here." : " looks at nothing here."];
  const verb = view.scale === "share" ? (several ? " look at" : " looks at") : ": most at";
  return [...who, verb, ...listedValues(view, list), several ? ` (${rows.length} tokens, summed)` : ""];
}

function queriesReadout(view, column) {
  const numbers = view.rows.names.map((_, row) => (stateAt(view, row, column) === SHOWN ? valueAt(view, row, column) : NaN));
  const list = largestValues(view, numbers, view.rows.names);
  const key = quotedToken({ piece: view.columns.names[column] });
  return list.length ? [...key, " is looked at by", ...listedValues(view, list)] : ["Nobody looks at ", ...key, "."];
}
