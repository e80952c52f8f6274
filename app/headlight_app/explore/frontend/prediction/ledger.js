// The ledger of the chosen cell, beneath its map: who wrote the query, who wrote the key, and what each pair adds.

import { formatNumber, formatShort } from "../../../ui/frontend/charts/charts.js";
import { createElement, quotedToken, updateChildren } from "../../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../../ui/frontend/dom/elements.js";
import { currentGroup } from "../../../ui/frontend/state/head_selection.js";
import { chosenKey, keyTokens, queryTokens } from "../../../ui/frontend/state/token_selection.js";
import { partChoice, partName } from "./why.js";

/** @import { CellLedgerAnswer, ExplorePage, Found } from "../types.js" */
/** @import { Part } from "./why.js" */
/** @typedef {{ query: string, key: string, value: number }} Pair */

const PAUSE = 300; // milliseconds without another choice
const LISTED = 5;
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
  // That of the same cell of an earlier text stays until the new one is here.
  place.hidden = !cell || Boolean(found?.meta.error) || place.dataset.cell !== JSON.stringify(cell);
}

/** The one weight that was clicked, of one head. @param {ExplorePage} page */
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

/** @param {ExplorePage} page @param {Found<CellLedgerAnswer>} found */
function ledgerParts(page, { meta, numbers }) {
  const { pinned } = page.state.choice;
  const [query, key] = [queryTokens(page)[pinned[0]], keyTokens(page)[chosenKey(page) ?? 0]];
  const title = createElement("h3", "", ["Why ", quotedToken(query), " looks at ", quotedToken(key)]);
  const pairs = largestPairs(meta.query_writers, meta.key_writers, numbers);
  const rest = meta.score - pairs.reduce((sum, { value }) => sum + value, 0);
  const words = `The score ${formatNumber(meta.score, 3)} is a sum over who wrote the query (left) and who wrote the key.`;
  const sentence = createElement("p", "quiet", words);
  const list = createElement("ol", "reasons", [...pairs.map((pair) => createPair(page, pair))]);
  const count = meta.query_writers.length * meta.key_writers.length - pairs.length;
  const terms = meta.terms
    .filter(({ name, value }) => name !== "rounding" && value)
    .map(({ name }) => name.replace("_", " "));
  const others = [`${count} other pairs`, ...terms].join(", ");
  if (count > 0 || terms.length)
    list.append(createElement("li", "", [others, createElement("b", "", formatShort(rest))]));
  return [title, sentence, list];
}

/** @param {ExplorePage} page @param {Pair} pair */
function createPair(page, { query, key, value }) {
  const words = createElement("span", "", [createWriter(page, query), " × ", createWriter(page, key)]);
  return createElement("li", "", [words, createElement("b", value > 0 ? "for" : "against", formatShort(value))]);
}

/** A head or a network leads to itself. @param {ExplorePage} page @param {string} path */
function createWriter(page, path) {
  const part = writerOf(path);
  const name = partName(part).replace("the network", "network");
  if (part.head < 0 && part.kind !== "feed_forward") return createElement("span", "", name.toLowerCase());
  return createElement("button", "name", name, { onclick: () => page.change(partChoice(page, part)) });
}
