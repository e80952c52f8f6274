// Hovering and locking tokens: whatever is marked in one picture is marked in all, and in the sentence's own tokens.

function queryTokens(self) {
  const { tokens, sourceTokens } = self.answer;
  return currentGrid(self).queries === "source" ? sourceTokens : tokens;
}

function keyTokens(self) {
  const { tokens, sourceTokens } = self.answer;
  return currentGrid(self).keys === "source" ? sourceTokens : tokens;
}

/** The query that predictions speak of: the chosen one, else the first masked token, else the last. */
function queryPosition(self) {
  const tokens = queryTokens(self);
  const { query } = self.choice;
  if (query >= 0 && query < tokens.length) return query;
  const masked = self.answer.maskable ? tokens.findIndex((token) => token.masked) : -1;
  return masked >= 0 ? masked : tokens.length - 1;
}

/** The positions of the tokens at hand: under the pointer, else locked, else the one that predictions speak of. */
function queriesAtHand(self) {
  const hovered = self.hovered?.query;
  if (hovered !== null && hovered !== undefined) return [hovered];
  const count = queryTokens(self).length;
  const locked = self.choice.locked.filter((place) => place < count);
  return locked.length ? locked : [queryPosition(self)];
}

function linesOf(index, places) {
  return [...new Set(places.map((place) => index.get(place)).filter((line) => line !== undefined))];
}

function rowsAtHand(self, view) {
  return linesOf(view.rowOf, queriesAtHand(self));
}

function hoveredColumn(self, view) {
  const key = self.hovered?.key;
  return key === null || key === undefined ? undefined : view.columnOf.get(key);
}

function hover(self, place) {
  if (!self.answer || JSON.stringify(self.hovered) === JSON.stringify(place)) return;
  self.hovered = place;
  pointRoom(self);
}

/** Locks a query, so that it stays marked; with `more` several. What was locked is let go. */
function lockQuery(self, position, more = false) {
  const { locked, query } = self.choice;
  const has = locked.includes(position);
  const others = locked.filter((place) => place !== position);
  const added = [...locked, position].sort((one, other) => one - other);
  const after = more ? (has ? others : added) : has && !others.length ? [] : [position];
  const patch = { locked: after };
  if (currentGrid(self).queries !== "source") {
    const place = after.includes(position) ? position : after.at(-1) ?? usualQuery(self);
    const asked = inAddress(self, place);
    if (asked !== query) patch.query = asked;
  }
  change(self, patch);
}

/** Which token predictions speak of; -1 in the address stands for the last. */
function chooseQuery(self, query) {
  change(self, { query: inAddress(self, query), locked: [] });
}

function unlock(self) {
  const usual = usualQuery(self);
  if (self.choice.locked.length || self.choice.query !== usual) change(self, { locked: [], ...(self.choice.query === usual ? {} : { query: usual }) });
}

/** What the pointer is over, as tokens, in whatever picture is open. */
function pointerMoves(self, event) {
  hover(self, PICTURES[openPicture(self)].under(self, event));
}

function pointerClicks(self, event) {
  if (event.target.closest("button, input, select")) return;
  const place = PICTURES[openPicture(self)].under(self, event, true);
  if (place?.query !== null && place?.query !== undefined) lockQuery(self, place.query, isMore(event));
}

function isMore(event) {
  return event.shiftKey || event.ctrlKey || event.metaKey;
}

/** Up and down walk through the queries, left and right through the keys of one; Enter locks, Escape lets go. */
function walkPicture(self, event) {
  if (!self.answer || event.target.closest("button, input, select")) return;
  const view = self.shown;
  const [query] = queriesAtHand(self);
  const row = view.rowOf.get(query) ?? 0;
  const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const right = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const step = (axis, line) => axis.tokens[Math.min(Math.max(line, 0), axis.tokens.length - 1)][0];
  const jump = PICTURES[openPicture(self)].jump?.(self, event.key);
  if (jump) hover(self, { query: step(view.rows, row + jump), key: null });
  else if (down) hover(self, { query: step(view.rows, row + down), key: self.hovered?.key ?? null });
  else if (right) {
    const column = hoveredColumn(self, view);
    hover(self, { query: view.rows.tokens[row][0], key: step(view.columns, column === undefined ? 0 : column + right) });
  } else if (event.key === "Enter" || event.key === " ") lockQuery(self, view.rows.tokens[row][0], isMore(event));
  else if (event.key === "Escape") {
    if (self.hovered) hover(self, null);
    else unlock(self);
  } else if (!zoomByKey(self, event)) return;
  event.preventDefault();
  event.stopPropagation();
}

/** Shades the tokens by what the queries at hand give them, and marks the queries. */
function shadeTokens(self, view) {
  const grid = currentGrid(self);
  const chips = [...self.parts.tokens.children];
  const sources = [...self.parts.sourceTokens.children];
  const sums = summed(view, rowsAtHand(self, view));
  const keys = grid.keys === "source" ? sources : chips;
  const queries = grid.queries === "source" ? sources : chips;
  for (const button of [...chips, ...sources]) button.style.removeProperty("--shade");
  keys.forEach((button, place) => {
    const sum = sums[view.columnOf.get(place)] ?? NaN;
    const strength = Math.sqrt(strengthOf(view, sum));
    if (strength > 0) button.style.setProperty("--shade", `${Math.round(strength * 85)}%`);
    button.style.setProperty("--tint", view.signed && sum < 0 ? BELOW : "var(--beam)");
    button.classList.toggle("key", self.hovered?.key === place);
  });
  const hot = queriesAtHand(self);
  for (const button of [...chips, ...sources]) button.classList.remove("query", "locked");
  queries.forEach((button, place) => {
    button.classList.toggle("query", hot.includes(place));
    button.classList.toggle("locked", self.choice.locked.includes(place));
  });
  if (!self.answer.maskable) chips.forEach((button, place) => button.setAttribute("aria-pressed", String(pressed(self, place))));
}

/** Whether a token is locked, or the one that predictions speak of. */
function pressed(self, place) {
  const { query, locked } = self.choice;
  const asks = currentGrid(self).queries !== "source";
  return (asks && locked.includes(place)) || place === (query < 0 ? self.answer.tokens.length - 1 : query);
}
