// The order of heads by one weight: how much a query looks at a key. Both are chosen in two menus, or on a map.

import { fillSelect, tokenOptions } from "../charts/charts.ts";
import { inlineText, quotedToken } from "../dom/dom.ts";
import { headCodes } from "../state/head_matrix.ts";
import { chosenKey, keyTokens, lockQuery, QUERY_KEY, queryPosition, queryTokens } from "../state/token_selection.ts";
import type { AttentionGroup, Page } from "../types.ts";
import { decodeWeight } from "../weight_code.ts";

/**
 * The locked query, else the query of the prediction; and the chosen key, else the key at which the current head looks
 * most.
 */
export function queryKeyPair(page: Page, group: AttentionGroup) {
  const locked = page.state.choice.pinned.filter((place) => place < queryTokens(page).length);
  const usual = queryPosition(page);
  const query = locked.length && !locked.includes(usual) ? locked[locked.length - 1] : usual;
  return { query, key: chosenKey(page) ?? mostAttendedKey(page, group, query) };
}

/** The key at which a head looks most: by default the current one. */
export function mostAttendedKey(
  page: Page,
  group: AttentionGroup,
  query: number,
  { layer, head }: { layer: number; head: number } = page.state.choice,
) {
  const [height, width] = group.pooled_shape;
  const [row, column] = [Math.floor((query * height) / group.rows), Math.ceil(group.columns / width)];
  const codes = headCodes(page, group, layer, head).subarray(row * width, (row + 1) * width);
  return Math.min(codes.indexOf(Math.max(...codes)) * column, group.columns - 1);
}

/** The weights of all heads, decoded from the byte codes of the cell's block. */
export function codeWeights(page: Page, group: AttentionGroup, query: number, key: number) {
  const [height, width] = group.pooled_shape;
  const [row, column] = [Math.floor((query * height) / group.rows), Math.floor((key * width) / group.columns)];
  return Float32Array.from({ length: group.layers * group.heads }, (_, place) => {
    const codes = headCodes(page, group, Math.floor(place / group.heads), place % group.heads);
    return decodeWeight(codes[row * width + column]);
  });
}

/** Whether each byte code stands for a single cell. */
function hasAllCells({ pending, pooled_shape, rows, columns }: AttentionGroup) {
  return !pending && String(pooled_shape) === String([rows, columns]);
}

/**
 * The weights that heads are sorted by, from the query to the key in each head, layer after layer; null while loading,
 * and null for each weight that the mask forbids. `name` identifies them. Until the `exact` weights arrive, they are
 * decoded from the heads' byte codes.
 */
export function pairWeights(page: Page, group: AttentionGroup) {
  const { query, key } = queryKeyPair(page, group);
  const found = askedWeights(page, group);
  const exact = found !== null && !found.meta.error;
  const numbers = exact ? found.numbers : hasAllCells(group) ? codeWeights(page, group, query, key) : null;
  if (!numbers) return null;
  const values = Array.from(numbers, (number) => (Number.isNaN(number) ? null : number));
  return { values, exact, name: `${query} ${key} ${exact}` };
}

function askedWeights(page: Page, group: AttentionGroup) {
  return page.server.get("query_key_weights", { attention: group.name, ...queryKeyPair(page, group) });
}

/** The title of the order in the menu. */
export function pairTitle(page: Page, group: AttentionGroup, title: string) {
  const { query, key } = queryKeyPair(page, group);
  const names = { query: inlineText(queryTokens(page)[query].text), key: inlineText(keyTokens(page)[key].text) };
  return title.replace(/{(query|key)}/g, (_, part: "query" | "key") => names[part]);
}

/** Once heads are sorted by a pair, its key stays chosen for every head. */
export function clampPair(page: Page, group: AttentionGroup) {
  if (page.state.choice.sort !== QUERY_KEY || chosenKey(page) !== null) return;
  page.state.correct({ key: queryKeyPair(page, group).key });
}

/**
 * The menus of the two tokens, and the reason if there is no weight between them. A choice in a menu sorts the heads
 * again with `sort`.
 */
export function drawPair(page: Page, group: AttentionGroup, sort: () => void) {
  const { pair, pairQuery, pairKey, pairTrouble } = page.view.elements;
  pair.hidden = page.state.choice.sort !== QUERY_KEY;
  if (pair.hidden) return;
  const { query, key } = queryKeyPair(page, group);
  const [queries, keys] = [queryTokens(page), keyTokens(page)];
  pair.title = page.state.catalogue.head_orders.find(({ name }) => name === QUERY_KEY)?.lesson ?? "";
  fillSelect(pairQuery, tokenOptions(queries), query, (value) => {
    sort();
    lockQuery(page, Number(value));
  });
  fillSelect(pairKey, tokenOptions(keys), key, (value) => {
    sort();
    page.change({ key: Number(value) });
  });
  const forbidden = pairWeights(page, group)?.values.every((value) => value === null);
  const words = ["The mask hides ", quotedToken(keys[key]), " from ", quotedToken(queries[query]), "."];
  pairTrouble.replaceChildren(...(forbidden ? words : [askedWeights(page, group)?.meta.error ?? ""]));
}
