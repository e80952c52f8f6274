// The tokens as chips: white space made visible, shaded by what the chosen query looks at.

import { columnSums, magnitude } from "../state/head_matrix.js";
import { currentGrid } from "../state/head_selection.js";
import { activeQueries, activeRows, chooseQuery, clearLocks, isMultiSelect, lockQuery, setHover } from "../state/token_selection.js";
import { NEGATIVE_COLOUR } from "../ui/colours.js";
import { createChip, moveChipFocus, onHover, updateChildren } from "../ui/dom.js";

export function drawTokenStrips(self) {
  const { tokens, sourceTokens, patches } = self.answer;
  const { parts } = self;
  parts.tokens.hidden = Boolean(patches); // the picture itself stands for them
  fillStrip(self, parts.tokens, patches ? [] : tokens, "text");
  parts.tokens.classList.toggle("many", tokens.length > 60);
  parts.sourceTokens.hidden = !sourceTokens;
  fillStrip(self, parts.sourceTokens, sourceTokens || [], "source");
}

/** What reads as before keeps its chip: a letter typed at the end of a long text makes one or two anew. */
function fillStrip(self, strip, tokens, which) {
  const { maskable } = self.answer;
  const chips = tokens.map((token, position) => {
    const read = JSON.stringify([token.piece, token.special, token.masked, maskable]);
    const there = strip.children[position];
    return there?.read === read ? clearMarks(there, maskable) : Object.assign(createStripChip(self, token, position, which), { read });
  });
  updateChildren(strip, ...chips);
  const active = strip.getRootNode().activeElement;
  const stop = chips.find((one) => one === active) ?? chips.find((one) => one.tabIndex === 0) ?? chips[0];
  for (const one of chips) one.tabIndex = one === stop ? 0 : -1;
}

/** A chip without what the last answer made of it; in rooms other than that of the heads nothing marks it again. */
function clearMarks(button, maskable) {
  button.removeAttribute("style");
  button.classList.remove("key", "query", "locked");
  if (!maskable) button.removeAttribute("aria-pressed");
  return button;
}

function createStripChip(self, token, position, which) {
  const button = createChip(token, position === 0);
  button.dataset.position = position;
  listenToChip(self, button, which);
  if (which === "source") return button;
  const { maskable } = self.answer;
  if (maskable) button.setAttribute("aria-pressed", String(token.masked));
  const click = token.masked ? "Masked. Click to show it again" : token.special ? "A special token" : "Click to mask this token";
  button.title = maskable ? `${click}; Shift+click locks its row` : "Click locks its row and asks what comes after it; Shift+click locks several";
  return button;
}

function listenToChip(self, button, which) {
  const position = Number(button.dataset.position);
  button.onclick = (event) => onChipClick(self, which, position, isMultiSelect(event));
  onHover(button, () => setHover(self, hoverTarget(self, which, position)), () => setHover(self, null));
  button.onkeydown = (event) => {
    if (event.key === "Enter" && isMultiSelect(event)) onChipClick(self, which, position, true);
    else if (!onChipKey(self, button, event)) return;
    event.preventDefault();
  };
}

/** A token of either text, as a query where it can be one; with a lock the pointer asks what the locked row gives it. */
function hoverTarget(self, which, position) {
  const grid = currentGrid(self);
  if (!grid) return null;
  const { queries, keys } = grid;
  const asKey = queries !== which || (queries === keys && self.choice.locked.length);
  return asKey ? { query: null, key: position } : { query: position, key: null };
}

/** Left and right walk, Escape lets go of what is locked; whether the key meant anything. */
function onChipKey(self, button, event) {
  if (event.key === "Escape") clearLocks(self);
  return moveChipFocus(button, event) || event.key === "Escape";
}

function onChipClick(self, which, position, more) {
  const { tokens, maskable } = self.answer;
  const asks = currentGrid(self)?.queries === which;
  if (which === "source" || more || !maskable) {
    if (asks) lockQuery(self, position, more);
    else if (which === "text") chooseQuery(self, position);
    return;
  }
  const others = self.choice.masked.filter((other) => other !== position);
  const unmasks = others.length < self.choice.masked.length;
  if (!unmasks && tokens[position].special) return lockQuery(self, position);
  self.change({ masked: unmasks ? others : [...others, position].sort((a, b) => a - b), query: position, locked: [] });
}

/** Shades the tokens by what the queries at hand give them, and marks the queries. */
export function shadeTokens(self, view) {
  const grid = currentGrid(self);
  const chips = [...self.parts.tokens.children];
  const sources = [...self.parts.sourceTokens.children];
  const sums = columnSums(view, activeRows(self, view));
  const keys = grid.keys === "source" ? sources : chips;
  const queries = grid.queries === "source" ? sources : chips;
  for (const button of [...chips, ...sources]) button.style.removeProperty("--shade");
  keys.forEach((button, place) => {
    const sum = sums[view.columnOf.get(place)] ?? NaN;
    const strength = Math.sqrt(magnitude(view, sum));
    if (strength > 0) button.style.setProperty("--shade", `${Math.round(strength * 85)}%`);
    button.style.setProperty("--tint", view.signed && sum < 0 ? NEGATIVE_COLOUR : "var(--beam)");
    button.classList.toggle("key", self.hovered?.key === place);
  });
  const hot = activeQueries(self);
  for (const button of [...chips, ...sources]) button.classList.remove("query", "locked");
  queries.forEach((button, place) => {
    button.classList.toggle("query", hot.includes(place));
    button.classList.toggle("locked", self.choice.locked.includes(place));
  });
  if (!self.answer.maskable) chips.forEach((button, place) => button.setAttribute("aria-pressed", String(isPressed(self, place))));
}

/** Whether a token is locked, or the one that predictions speak of. */
function isPressed(self, place) {
  const { query, locked } = self.choice;
  const asks = currentGrid(self).queries !== "source";
  return (asks && locked.includes(place)) || place === (query < 0 ? self.answer.tokens.length - 1 : query);
}
