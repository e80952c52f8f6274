// Hovering and locking tokens: a token marked in one picture is marked in all, and in the strip of tokens.

import { currentGroup } from "./head_selection.js";

/** @import { DisplayChoice, HeadMatrix, Page, Pointer } from "../types.js" */

/** The name of the order of heads by the weight from a query to a key. */
export const QUERY_KEY = "query_key";

/** @param {Page} page */
export function queryTokens(page) {
  const { tokens, source_tokens } = page.state.answer;
  return (currentGroup(page).queries === "source" && source_tokens) || tokens;
}

/** @param {Page} page */
export function keyTokens(page) {
  const { tokens, source_tokens } = page.state.answer;
  return (currentGroup(page).keys === "source" && source_tokens) || tokens;
}

/** Whether the prediction is about the image instead of a text. @param {Page} page */
export function predictsFromImage(page) {
  return page.state.answer.patches?.side === "text";
}

/** Whether the queries of the open attention are patches. @param {Page} page */
export function queriesArePatches(page) {
  const { patches } = page.state.answer;
  return patches !== null && currentGroup(page)?.queries === patches.side;
}

/** Whether the keys of the open attention are patches. @param {Page} page */
export function keysArePatches(page) {
  const { patches } = page.state.answer;
  return patches !== null && currentGroup(page)?.keys === patches.side;
}

/** Whether the queries of the open attention are frames of a sound. @param {Page} page */
export function queriesAreFrames(page) {
  return currentGroup(page)?.queries === page.state.answer.sound?.side;
}

/** Whether the keys of the open attention are frames of a sound. @param {Page} page */
export function keysAreFrames(page) {
  return currentGroup(page)?.keys === page.state.answer.sound?.side;
}

/** The query of the prediction: the chosen one, else the first masked token, else the last. @param {Page} page */
export function queryPosition(page, tokens = queryTokens(page)) {
  const { query } = page.state.choice;
  if (query >= 0 && query < tokens.length) return query;
  const { maskable, sound } = page.state.answer;
  const masked = maskable ? tokens.findIndex((token) => token.masked) : -1;
  // The silence after the frames of a recording is not a useful default.
  const last = sound && queriesAreFrames(page) ? sound.frames_read : tokens.length;
  return masked >= 0 ? masked : Math.min(last, tokens.length) - 1;
}

/**
 * The positions of the active queries: under the pointer, else locked, else the query of the prediction.
 * @param {Page} page
 */
export function activeQueries(page) {
  const hovered = page.state.pointer?.query;
  if (hovered !== null && hovered !== undefined) return [hovered];
  const count = queryTokens(page).length;
  const locked = page.state.choice.pinned.filter((place) => place < count);
  return locked.length ? locked : [queryPosition(page)];
}

/** @param {Map<number, number>} index @param {number[]} places */
export function lineIndices(index, places) {
  return [...new Set(places.map((place) => index.get(place)).filter((line) => line !== undefined))];
}

/** @param {Page} page @param {HeadMatrix} matrix */
export function activeRows(page, matrix) {
  return lineIndices(matrix.rowOf, activeQueries(page));
}

/** @param {Page} page @param {HeadMatrix} matrix */
export function hoveredColumn(page, matrix) {
  const key = page.state.pointer?.key;
  return key === null || key === undefined ? undefined : matrix.columnOf.get(key);
}

/** The key that the chosen query looks at, or null. @param {Page} page */
export function chosenKey(page) {
  const { key } = page.state.choice;
  return key >= 0 && key < keyTokens(page).length ? key : null;
}

/** The active key: under the pointer, else the one by which heads are sorted, else null. @param {Page} page */
export function activeKey(page) {
  if (page.state.pointer) return page.state.pointer.key;
  return page.state.choice.sort === QUERY_KEY ? chosenKey(page) : null;
}

/** @param {Page} page @param {HeadMatrix} matrix */
export function activeColumn(page, matrix) {
  const key = activeKey(page);
  return key === null ? undefined : matrix.columnOf.get(key);
}

/** @param {Page} page @param {Pointer | null} place */
export function setHover(page, place) {
  if (!page.state.latestAnswer || JSON.stringify(page.state.pointer) === JSON.stringify(place)) return;
  page.state.point(place);
  page.view.markPointer();
}

/**
 * Locks a query, so that it stays marked, or unlocks it. With `more`, several can be locked. A `key` is chosen with it.
 * @param {Page} page @param {number} position @param {boolean} [more] @param {number | null} [key]
 */
export function lockQuery(page, position, more = false, key = null) {
  page.change({ ...lockedQuery(page, position, more), ...(key === null ? {} : { key }) });
}

/** The change that locks or unlocks a query. @param {Page} page @param {number} position @param {boolean} [more] */
export function lockedQuery(page, position, more = false) {
  const { pinned, query } = page.state.choice;
  const has = pinned.includes(position);
  const others = pinned.filter((place) => place !== position);
  const added = [...pinned, position].sort((one, other) => one - other);
  const after = more ? (has ? others : added) : has && !others.length ? [] : [position];
  /** @type {Partial<DisplayChoice>} */
  const patch = { pinned: after };
  if (currentGroup(page)?.queries !== "source") {
    const place = after.includes(position) ? position : (after.at(-1) ?? defaultQuery(page));
    const asked = urlPosition(page, place);
    if (asked !== query) patch.query = asked;
  }
  return patch;
}

/** Sets the query of the prediction; -1 in the address is the last token. @param {Page} page @param {number} query */
export function chooseQuery(page, query) {
  page.change({ query: urlPosition(page, query), pinned: [] });
}

/** @param {Page} page */
export function clearLocks(page) {
  const usual = defaultQuery(page);
  if (page.state.choice.pinned.length || page.state.choice.query !== usual)
    page.change({ pinned: [], ...(page.state.choice.query === usual ? {} : { query: usual }) });
}

/** @param {MouseEvent | KeyboardEvent} event */
export function isMultiSelect(event) {
  return event.shiftKey || event.ctrlKey || event.metaKey;
}

/**
 * The default query, as in the address; -1 is a text's last token, or a picture's class token.
 * @param {Page} page
 */
function defaultQuery(page) {
  return predictsFromImage(page) ? 0 : -1;
}

/** A position as in the address. @param {Page} page @param {number} position */
export function urlPosition(page, position) {
  return !predictsFromImage(page) && position === page.state.answer.tokens.length - 1 ? -1 : position;
}
