// Hovering and locking tokens: whatever is marked in one picture is marked in all, and in the sentence's own tokens.

import { currentGrid } from "./head_selection.js";

export function queryTokens(self) {
  const { tokens, sourceTokens } = self.answer;
  return currentGrid(self).queries === "source" ? sourceTokens : tokens;
}

export function keyTokens(self) {
  const { tokens, sourceTokens } = self.answer;
  return currentGrid(self).keys === "source" ? sourceTokens : tokens;
}

/** The query that predictions speak of: the chosen one, else the first masked token, else the last. */
export function queryPosition(self) {
  const tokens = queryTokens(self);
  const { query } = self.choice;
  if (query >= 0 && query < tokens.length) return query;
  const masked = self.answer.maskable ? tokens.findIndex((token) => token.masked) : -1;
  return masked >= 0 ? masked : tokens.length - 1;
}

/** The positions of the tokens at hand: under the pointer, else locked, else the one that predictions speak of. */
export function activeQueries(self) {
  const hovered = self.hovered?.query;
  if (hovered !== null && hovered !== undefined) return [hovered];
  const count = queryTokens(self).length;
  const locked = self.choice.locked.filter((place) => place < count);
  return locked.length ? locked : [queryPosition(self)];
}

export function lineIndices(index, places) {
  return [...new Set(places.map((place) => index.get(place)).filter((line) => line !== undefined))];
}

export function activeRows(self, view) {
  return lineIndices(view.rowOf, activeQueries(self));
}

export function hoveredColumn(self, view) {
  const key = self.hovered?.key;
  return key === null || key === undefined ? undefined : view.columnOf.get(key);
}

export function setHover(self, place) {
  if (!self.answer || JSON.stringify(self.hovered) === JSON.stringify(place)) return;
  self.hovered = place;
  self.mark();
}

/** Locks a query, so that it stays marked; with `more` several. What was locked is let go. */
export function lockQuery(self, position, more = false) {
  const { locked, query } = self.choice;
  const has = locked.includes(position);
  const others = locked.filter((place) => place !== position);
  const added = [...locked, position].sort((one, other) => one - other);
  const after = more ? (has ? others : added) : has && !others.length ? [] : [position];
  const patch = { locked: after };
  if (currentGrid(self).queries !== "source") {
    const place = after.includes(position) ? position : after.at(-1) ?? defaultQuery(self);
    const asked = urlPosition(self, place);
    if (asked !== query) patch.query = asked;
  }
  self.change(patch);
}

/** Which token predictions speak of; -1 in the address stands for the last. */
export function chooseQuery(self, query) {
  self.change({ query: urlPosition(self, query), locked: [] });
}

export function clearLocks(self) {
  const usual = defaultQuery(self);
  if (self.choice.locked.length || self.choice.query !== usual) self.change({ locked: [], ...(self.choice.query === usual ? {} : { query: usual }) });
}


export function isMultiSelect(event) {
  return event.shiftKey || event.ctrlKey || event.metaKey;
}



/** What cannot be written in the address as -1, which stands for a text's last token: a picture's class token is usual. */
function defaultQuery(self) {
  return self.answer.patches ? 0 : -1;
}

/** A position as the address has it. */
export function urlPosition(self, position) {
  return !self.answer.patches && position === self.answer.tokens.length - 1 ? -1 : position;
}
