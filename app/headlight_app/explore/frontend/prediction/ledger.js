// The ledger of the chosen cell, below its map: the writers of the query and the key, and what each pair adds.

import { formatNumber, formatShort, formatSigned } from "../../../ui/frontend/charts/charts.js";
import { createElement, formatPercent, quotedToken, updateChildren } from "../../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../../ui/frontend/dom/elements.js";
import { createTable } from "../../../ui/frontend/export/page_export.js";
import { headCodes } from "../../../ui/frontend/state/head_matrix.js";
import { currentGroup } from "../../../ui/frontend/state/head_selection.js";
import { chosenKey, keyTokens, queryTokens } from "../../../ui/frontend/state/token_selection.js";
import { drawSigned } from "../export/layer_figures.js";
import { runOf } from "../export/shown_run.js";
import { drawCellTable } from "../layers/cell_table.js";
import { askFloats } from "../server.js";
import { partChoice, partName } from "./why.js";

/** @import { CellLedgerAnswer, ExplorePage, Found, ShownDrawing, TableRow } from "../types.js" */
/** @import { Part } from "./why.js" */
/** @typedef {{ query: string, key: string, value: number }} Pair */

const MATRIX_HELP =
  "Rows wrote the query, columns the key; orange adds to the score. Click a head to see why it looks there.";
const PAUSE = 300; // milliseconds without another choice
const LISTED = 5;
const LITTLE = 0.01; // a weight below which a query hardly looks at a key
const SIDE = 5; // writers of each side in the matrix, by contribution
const WRITER = /^\w+\.(?:(\d+)\.)?(\w+)(?:\[(\d+)\])?$/; // such as decoder.0.self[3]

/** @param {ExplorePage} page */
export function drawLedger(page) {
  const place = findByTestId(page.view.elements.board, "ledger");
  const cell = chosenCell(page);
  const found = cell && page.server.get("cell_ledger", cell, PAUSE);
  if (found && !found.meta.error) {
    updateChildren(place, ...ledgerParts(page, found));
    place.dataset.cell = JSON.stringify(cell);
  }
  // The ledger of the same cell in an earlier text stays until the new one has arrived.
  place.hidden = !cell || Boolean(found?.meta.error) || place.dataset.cell !== JSON.stringify(cell);
}

/** The request for the clicked weight of one head. @param {ExplorePage} page */
function chosenCell(page) {
  const { pinned, layer, head, heads } = page.state.choice;
  const [key, group] = [chosenKey(page), currentGroup(page)];
  if (pinned.length !== 1 || key === null || heads.length > 1) return null;
  return { attention: `${group.stack}.${layer}.${group.kind}`, head, query: pinned[0], key };
}

/**
 * The pairs of writers that add most to the score, or take most from it.
 * @param {string[]} queryWriters @param {string[]} keyWriters @param {ArrayLike<number>} parts a row for each query writer
 * @returns {Pair[]}
 */
export function largestPairs(queryWriters, keyWriters, parts) {
  return Array.from(parts, (value, place) => ({
    query: queryWriters[Math.floor(place / keyWriters.length)],
    key: keyWriters[place % keyWriters.length],
    value,
  }))
    .sort((one, other) => Math.abs(other.value) - Math.abs(one.value))
    .slice(0, LISTED);
}

/** The part of the model that a path names. @param {string} path @returns {Part} */
export function writerOf(path) {
  const [, layer, name, head] = path.match(WRITER) ?? ["", "", path, ""];
  const kind = name === "position_embedding" ? "positions" : name;
  return { kind, layer: Number(layer ?? -1), head: Number(head ?? -1) };
}

/** What a query does to a key, between the two. @param {number} weight */
export function looking(weight) {
  return weight < LITTLE ? " hardly looks at " : " looks at ";
}

/**
 * What a weight carries of its head's output.
 * @param {Pick<CellLedgerAnswer, "weight" | "length_share" | "direction_share">} meta
 */
export function carriedWords({ weight, length_share, direction_share: along }) {
  const carries = `The weight ${formatNumber(weight, 3)} carries ${formatPercent(length_share)} of the head's output by length`;
  return along === null
    ? `${carries}; along its direction there is no share, because the head's values cancel.`
    : `${carries}, ${formatPercent(along)} along its direction.`;
}

/** @param {ExplorePage} page @param {Found<CellLedgerAnswer>} found */
function ledgerParts(page, { meta, numbers }) {
  const { pinned } = page.state.choice;
  const [query, key] = [queryTokens(page)[pinned[0]], keyTokens(page)[chosenKey(page) ?? 0]];
  const title = createElement("h3", "", ["Why ", quotedToken(query), looking(meta.weight), quotedToken(key)]);
  const pairs = largestPairs(meta.query_writers, meta.key_writers, numbers);
  const rest = meta.score - pairs.reduce((sum, { value }) => sum + value, 0);
  const words = `The score ${formatNumber(meta.score, 3)} is a sum over who wrote the query (left) and who wrote the key.`;
  const sentence = createElement("p", "quiet", `${carriedWords(meta)} ${words}`);
  const list = createElement("ol", "reasons", [...pairs.map((pair) => createPair(page, pair))]);
  const count = meta.query_writers.length * meta.key_writers.length - pairs.length;
  const terms = meta.terms
    .filter(({ name, value }) => name !== "rounding" && value)
    .map(({ name }) => name.replace("_", " "));
  const others = [`${count} other pairs`, ...terms].join(", ");
  if (count > 0 || terms.length)
    list.append(createElement("li", "", [others, createElement("b", "", formatShort(rest))]));
  return [title, sentence, list, createMatrix(page, { meta, numbers })];
}

/**
 * The writers of each side with the largest absolute contributions; the others are summed in one more line.
 * @param {CellLedgerAnswer} meta @param {ArrayLike<number>} parts @returns {{ rows: number[], columns: number[], values: number[][] }}
 */
export function largestWriters({ query_writers: { length: height }, key_writers: { length: width } }, parts) {
  /** @param {number} count @param {(line: number) => number[]} line */
  const largest = (count, line) =>
    Array.from({ length: count }, (_, place) => ({
      place,
      size: line(place).reduce((sum, at) => sum + Math.abs(parts[at]), 0),
    }))
      .sort((one, other) => other.size - one.size)
      .map(({ place }) => place);
  const across = Array.from({ length: width }, (_, column) => column);
  const down = Array.from({ length: height }, (_, row) => row);
  const rows = largest(height, (row) => across.map((column) => row * width + column));
  const columns = largest(width, (column) => down.map((row) => row * width + column));
  /** @param {number[]} all @returns {number[][]} */
  const lines = (all) => [
    ...all.slice(0, SIDE).map((place) => [place]),
    ...(all.length > SIDE ? [all.slice(SIDE)] : []),
  ];
  const values = lines(rows).map((some) =>
    lines(columns).map((others) =>
      some.flatMap((row) => others.map((column) => parts[row * width + column])).reduce((sum, part) => sum + part, 0),
    ),
  );
  return { rows: rows.slice(0, SIDE), columns: columns.slice(0, SIDE), values };
}

/** The rows and columns of the matrix. @param {CellLedgerAnswer} meta @param {ArrayLike<number>} numbers @returns {{ columns: string[], rows: TableRow[] }} */
function ledgerTable(meta, numbers) {
  const { rows, columns, values } = largestWriters(meta, numbers);
  const queries = rows.map((place) => writerOf(meta.query_writers[place]));
  const keys = columns.map((place) => writerOf(meta.key_writers[place]));
  const names = (/** @type {Part[]} */ parts, /** @type {number} */ count) =>
    [...parts.map(shortName), "rest"].slice(0, count);
  const labels = names(queries, values.length);
  const titles = names(keys, values[0]?.length ?? 0);
  return {
    columns: titles,
    rows: values.map((line, row) => ({
      label: labels[row],
      cells: line.map((value, column) => ({
        value,
        title: `${labels[row]} × ${titles[column]}`,
        chosen: false,
        ...(keys[column] ?? { kind: "rest", layer: -1, head: -1 }),
      })),
    })),
  };
}

/** @param {Part} part */
function shortName({ kind, layer, head }) {
  if (head >= 0) return `L${layer} H${head}`;
  const names = {
    feed_forward: `FF${layer}`,
    layer_embedding: `LE${layer}`,
    embedding: "token",
    positions: "pos",
    bias: layer < 0 ? "bias" : `bias${layer}`,
  };
  return /** @type {Record<string, string>} */ (names)[kind] ?? kind.replace("_", " ");
}

/** Rows wrote the query, columns the key. @param {ExplorePage} page @param {Found<CellLedgerAnswer>} found */
function createMatrix(page, { meta, numbers }) {
  const { columns, rows } = ledgerTable(meta, numbers);
  const most = Math.max(...rows.flatMap(({ cells }) => cells.map((cell) => Math.abs(cell?.value ?? 0))), 1e-9);
  const table = createElement("table", "cells", [], { ariaLabel: "Rows wrote the query, columns the key" });
  const reading = createElement("p", "quiet", MATRIX_HELP);
  drawCellTable(table, columns, rows, {
    most,
    read: (cell) => {
      reading.textContent = cell?.value ? `${cell.title}: ${formatSigned(cell.value)}` : MATRIX_HELP;
    },
    pick: (cell) =>
      page.change(ownCell(page, { kind: cell.kind ?? "", layer: cell.layer, head: cell.head }, chosenKey(page) ?? 0)),
  });
  return createElement("div", "table-frame", [table, reading]);
}

/**
 * The head's cell at a token: its most attended key there.
 * @param {ExplorePage} page @param {Part} part @param {number} token
 */
function ownCell(page, part, token) {
  const choice = partChoice(page, part);
  const group = page.state.answer.attention_groups.find(
    ({ name }) => "attention" in choice && name === choice.attention,
  );
  if (part.head < 0 || !group || group.pending || token >= group.rows) return choice;
  const [rows, columns] = group.pooled_shape;
  if (rows !== group.rows || columns !== group.columns) return choice;
  const codes = headCodes(page, group, part.layer, part.head).subarray(token * columns, (token + 1) * columns);
  return { ...choice, pinned: [token], key: codes.indexOf(Math.max(...codes)) };
}

/**
 * The ledger as a figure and as numbers; null if no weight is clicked.
 * @param {ExplorePage} page @returns {Promise<ShownDrawing | null>}
 */
export async function ledgerDrawing(page) {
  const cell = chosenCell(page);
  if (!cell) return null;
  const { meta, numbers } = await askFloats(page, "cell_ledger", cell);
  const entries = largestPairs(meta.query_writers, meta.key_writers, numbers).map(({ query, key, value }) => ({
    title: `${shortName(writerOf(query))} × ${shortName(writerOf(key))}`,
    value,
  }));
  return {
    name: "ledger",
    shown: `who wrote the query (rows) and the key (columns) of the score ${formatNumber(meta.score, 4)} of ${meta.cell}`,
    sides: [runOf(page)],
    draw: drawSigned(ledgerTable(meta, numbers), { title: "The largest pairs", entries }, "added to the score"),
    tables: {
      "Ledger of the weight": createTable(
        "ledger",
        { "query writer": [...meta.query_writers], "key writer": [...meta.key_writers] },
        numbers,
      ),
    },
  };
}

/** @param {ExplorePage} page @param {Pair} pair */
function createPair(page, { query, key, value }) {
  const [query_token, key_token] = [page.state.choice.pinned[0], chosenKey(page) ?? 0];
  const words = createElement("span", "", [
    createWriter(page, query, query_token),
    " × ",
    createWriter(page, key, key_token),
  ]);
  return createElement("li", "", [words, createElement("b", value > 0 ? "for" : "against", formatShort(value))]);
}

/**
 * The name of a writer: a button for a head, which opens its own cell, and for a network, which opens its neurons.
 * @param {ExplorePage} page @param {string} path @param {number} token
 */
function createWriter(page, path, token) {
  const part = writerOf(path);
  const name = partName(part).replace("the network", "network");
  if (part.head < 0 && part.kind !== "feed_forward") return createElement("span", "", name.toLowerCase());
  return createElement("button", "name", name, { onclick: () => page.change(ownCell(page, part, token)) });
}
