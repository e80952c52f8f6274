// Hovering and locking tokens: a token marked in one picture is marked in all, and in the strip of tokens.

import type { DisplayChoice, HeadMatrix, Page, Pointer } from "../types.ts";
import { currentGroup } from "./head_selection.ts";

/** The name of the order of heads by the weight from a query to a key. */
export const QUERY_KEY = "query_key";

export function queryTokens(page: Page) {
  const { tokens, source_tokens } = page.state.answer;
  return (currentGroup(page).queries === "source" && source_tokens) || tokens;
}

export function keyTokens(page: Page) {
  const { tokens, source_tokens } = page.state.answer;
  return (currentGroup(page).keys === "source" && source_tokens) || tokens;
}

/** Whether the prediction is about the image instead of a text. */
function predictsFromImage(page: Page) {
  return page.state.answer.patches?.side === "text";
}

/** Whether the queries of the open attention are patches. */
export function queriesArePatches(page: Page) {
  const { patches } = page.state.answer;
  return patches !== null && currentGroup(page)?.queries === patches.side;
}

/** Whether the keys of the open attention are patches. */
export function keysArePatches(page: Page) {
  const { patches } = page.state.answer;
  return patches !== null && currentGroup(page)?.keys === patches.side;
}

/** Whether the queries of the open attention are frames of a sound. */
export function queriesAreFrames(page: Page) {
  return currentGroup(page)?.queries === page.state.answer.sound?.side;
}

/** Whether the keys of the open attention are frames of a sound. */
export function keysAreFrames(page: Page) {
  return currentGroup(page)?.keys === page.state.answer.sound?.side;
}

/** The query of the prediction: the chosen one, else the first masked token, else the last. */
export function queryPosition(page: Page, tokens = queryTokens(page)) {
  const { query } = page.state.choice;
  if (query >= 0 && query < tokens.length) return query;
  const { maskable, sound } = page.state.answer;
  const masked = maskable ? tokens.findIndex((token) => token.masked) : -1;
  // The silence after the frames of a recording is not a useful default.
  const last = sound && queriesAreFrames(page) ? sound.frames_read : tokens.length;
  return masked >= 0 ? masked : Math.min(last, tokens.length) - 1;
}

/** The positions of the active queries: under the pointer, else locked, else the query of the prediction. */
export function activeQueries(page: Page) {
  const hovered = page.state.pointer?.query;
  if (hovered !== null && hovered !== undefined) return [hovered];
  const count = queryTokens(page).length;
  const locked = page.state.choice.pinned.filter((place) => place < count);
  return locked.length ? locked : [queryPosition(page)];
}

export function lineIndices(index: Map<number, number>, places: number[]) {
  return [...new Set(places.map((place) => index.get(place)).filter((line) => line !== undefined))];
}

export function activeRows(page: Page, matrix: HeadMatrix) {
  return lineIndices(matrix.rowOf, activeQueries(page));
}

export function hoveredColumn(page: Page, matrix: HeadMatrix) {
  const key = page.state.pointer?.key;
  return key === null || key === undefined ? undefined : matrix.columnOf.get(key);
}

/** The key that the chosen query looks at, or null. */
export function chosenKey(page: Page) {
  const { key } = page.state.choice;
  return key >= 0 && key < keyTokens(page).length ? key : null;
}

/** The active key: under the pointer, else the one by which heads are sorted, else null. */
export function activeKey(page: Page) {
  if (page.state.pointer) return page.state.pointer.key;
  return page.state.choice.sort === QUERY_KEY ? chosenKey(page) : null;
}

export function activeColumn(page: Page, matrix: HeadMatrix) {
  const key = activeKey(page);
  return key === null ? undefined : matrix.columnOf.get(key);
}

export function setHover(page: Page, place: Pointer | null) {
  if (!page.state.latestAnswer || JSON.stringify(page.state.pointer) === JSON.stringify(place)) return;
  page.state.point(place);
  page.view.markPointer();
}

/**
 * Locks a query, so that it stays marked, or unlocks it. With `more`, several can be locked. A `key` is chosen with it.
 */
export function lockQuery(page: Page, position: number, more: boolean = false, key: number | null = null) {
  page.change({ ...lockedQuery(page, position, more), ...(key === null ? {} : { key }) });
}

/** The change that locks or unlocks a query. */
export function lockedQuery(page: Page, position: number, more: boolean = false) {
  const { pinned, query } = page.state.choice;
  const has = pinned.includes(position);
  const others = pinned.filter((place) => place !== position);
  const added = [...pinned, position].sort((one, other) => one - other);
  const after = more ? (has ? others : added) : has && !others.length ? [] : [position];
  const patch: Partial<DisplayChoice> = { pinned: after };
  if (currentGroup(page)?.queries !== "source") {
    const place = after.includes(position) ? position : (after.at(-1) ?? defaultQuery(page));
    const asked = urlPosition(page, place);
    if (asked !== query) patch.query = asked;
  }
  return patch;
}

/** Sets the query of the prediction; -1 in the address is the last token. */
export function chooseQuery(page: Page, query: number) {
  page.change({ query: urlPosition(page, query), pinned: [] });
}

export function clearLocks(page: Page) {
  const usual = defaultQuery(page);
  if (page.state.choice.pinned.length || page.state.choice.query !== usual)
    page.change({ pinned: [], ...(page.state.choice.query === usual ? {} : { query: usual }) });
}

export function isMultiSelect(event: MouseEvent | KeyboardEvent) {
  return event.shiftKey || event.ctrlKey || event.metaKey;
}

/** The default query, as in the address; -1 is a text's last token, or a picture's class token. */
function defaultQuery(page: Page) {
  return predictsFromImage(page) ? 0 : -1;
}

/** A position as in the address. */
export function urlPosition(page: Page, position: number) {
  return !predictsFromImage(page) && position === page.state.answer.tokens.length - 1 ? -1 : position;
}
