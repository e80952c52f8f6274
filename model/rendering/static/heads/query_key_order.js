// The order of heads by one weight: how much a query looks at a key. Both are chosen in two menus, or with a click on a map.

import { headCodes } from "../state/head_matrix.js";
import { chosenKey, keyTokens, lockQuery, QUERY_KEY, queryPosition, queryTokens } from "../state/token_selection.js";
import { fillSelect, tokenOptions } from "../ui/charts.js";
import { WEIGHT_OF_CODE } from "../ui/colours.js";
import { inlineText, quotedToken } from "../ui/dom.js";

/** @import { Grid, Page } from "../types.js" */

/**
 * The weight from the query to the key in each head, layer after layer; null where the mask forbids it. `name` tells one
 * such row from another. Until the `exact` weights are here they are those of the heads' byte codes.
 * @typedef {{ values: (number | null)[], exact: boolean, name: string }} PairWeights
 */

/**
 * The query that is locked, else the one that predictions speak of, and the key that is chosen, else the one at which
 * the current head looks most.
 * @param {Page} page @param {Grid} grid
 */
export function queryKeyPair(page, grid) {
  const locked = page.state.choice.pinned.filter((place) => place < queryTokens(page).length);
  const usual = queryPosition(page);
  const query = locked.length && !locked.includes(usual) ? locked[locked.length - 1] : usual;
  return { query, key: chosenKey(page) ?? mostAttendedKey(page, grid, query) };
}

/** @param {Page} page @param {Grid} grid @param {number} query */
function mostAttendedKey(page, grid, query) {
  const { layer, head } = page.state.choice;
  const [height, width] = grid.pooled_shape;
  const [row, column] = [Math.floor((query * height) / grid.rows), Math.ceil(grid.columns / width)];
  const codes = headCodes(page, grid, layer, head).subarray(row * width, (row + 1) * width);
  return Math.min(codes.indexOf(Math.max(...codes)) * column, grid.columns - 1);
}

/**
 * The weights of all heads as the byte codes of the cell's block have them.
 * @param {Page} page @param {Grid} grid @param {number} query @param {number} key
 */
export function codeWeights(page, grid, query, key) {
  const [height, width] = grid.pooled_shape;
  const [row, column] = [Math.floor((query * height) / grid.rows), Math.floor((key * width) / grid.columns)];
  return Float32Array.from({ length: grid.layers * grid.heads }, (_, place) => {
    const codes = headCodes(page, grid, Math.floor(place / grid.heads), place % grid.heads);
    return WEIGHT_OF_CODE[codes[row * width + column]];
  });
}

/** Whether the byte codes are of single cells. @param {Grid} grid */
function hasAllCells({ pending, pooled_shape, rows, columns }) {
  return !pending && String(pooled_shape) === String([rows, columns]);
}

/** The weights that heads are put in order by; null while they are on their way. @param {Page} page @param {Grid} grid */
export function pairWeights(page, grid) {
  const { query, key } = queryKeyPair(page, grid);
  const found = askedWeights(page, grid);
  const exact = found !== null && !found.meta.error;
  const numbers = exact ? found.numbers : hasAllCells(grid) ? codeWeights(page, grid, query, key) : null;
  if (!numbers) return null;
  const values = Array.from(numbers, (number) => (Number.isNaN(number) ? null : number));
  return { values, exact, name: `${query} ${key} ${exact}` };
}

/** @param {Page} page @param {Grid} grid */
function askedWeights(page, grid) {
  return page.server.get("query_key_weights", { attention: grid.name, ...queryKeyPair(page, grid) });
}

/** What the menu calls the order. @param {Page} page @param {Grid} grid @param {string} title */
export function pairTitle(page, grid, title) {
  const { query, key } = queryKeyPair(page, grid);
  const names = { query: inlineText(queryTokens(page)[query].text), key: inlineText(keyTokens(page)[key].text) };
  return title.replace(/{(query|key)}/g, (_, /** @type {"query" | "key"} */ part) => names[part]);
}

/**
 * From the moment on that heads are in order by a pair, its key is a choice, whatever head is looked at.
 * @param {Page} page @param {Grid} grid
 */
export function clampPair(page, grid) {
  if (page.state.choice.sort !== QUERY_KEY || chosenKey(page) !== null) return;
  page.state.correct({ key: queryKeyPair(page, grid).key });
}

/**
 * The two tokens, and why there may be no weight between them. To choose one is to ask for its order: `sort` puts the
 * heads in it.
 * @param {Page} page @param {Grid} grid @param {() => void} sort
 */
export function drawPair(page, grid, sort) {
  const { pair, pairQuery, pairKey, pairTrouble } = page.view.elements;
  pair.hidden = page.state.choice.sort !== QUERY_KEY;
  if (pair.hidden) return;
  const { query, key } = queryKeyPair(page, grid);
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
  const forbidden = pairWeights(page, grid)?.values.every((value) => value === null);
  const words = ["The mask keeps ", ...quotedToken(keys[key]), " from ", ...quotedToken(queries[query]), "."];
  pairTrouble.replaceChildren(...(forbidden ? words : [askedWeights(page, grid)?.meta.error ?? ""]));
}
