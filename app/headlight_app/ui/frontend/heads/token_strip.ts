// The tokens as chips: with visible white space, shaded by how much the active queries look at them.

import { NEGATIVE_COLOUR } from "../charts/colours.ts";
import { activeElement, createChip, describeChip, moveChipFocus, onHover, updateChildren } from "../dom/dom.ts";
import { remembered } from "../dom/memory.ts";
import { columnSums, magnitude } from "../state/head_matrix.ts";
import { currentGroup } from "../state/head_selection.ts";
import {
  activeKey,
  activeQueries,
  activeRows,
  chooseQuery,
  clearLocks,
  isMultiSelect,
  lockQuery,
  setHover,
} from "../state/token_selection.ts";
import type { HeadMatrix, Page, Side, Token } from "../types.ts";

const MARGIN = 6; // pixels beneath a chip that is scrolled into view

type MarkedToken = { side: Side; position: number };

/** The values that a chip was made from, as text. */
const chipText = remembered((_: HTMLElement) => ({ text: "" }));

/** The last choice that a strip has scrolled to. */
const shown = remembered((_: HTMLElement) => ({ choice: "" }));

function chipsOf(strip: HTMLElement) {
  return [...strip.children] as HTMLElement[];
}

export function drawTokenStrips(page: Page) {
  const { tokens, source_tokens, patches, sound } = page.state.answer;
  const { elements } = page.view;
  // Patches and frames have no chips: the picture and the sound are shown instead.
  const signal = patches ?? sound;
  const [words, sourceWords] = [signal?.side === "text" ? [] : tokens, signal ? [] : (source_tokens ?? [])];
  elements.tokens.hidden = !words.length;
  fillStrip(page, elements.tokens, words, "text");
  elements.tokens.classList.toggle("many", words.length > 60);
  elements.sourceTokens.hidden = !sourceWords.length;
  fillStrip(page, elements.sourceTokens, sourceWords, "source");
}

/** An unchanged token keeps its chip: a letter typed at the end of a long text recreates only one or two. */
function fillStrip(page: Page, strip: HTMLElement, tokens: Token[], which: Side) {
  const { maskable } = page.state.answer;
  const chips = tokens.map((token, position) => {
    const text = JSON.stringify([token.text, token.id, token.special, token.masked, token.role, maskable]);
    const there = chipsOf(strip)[position];
    if (there && chipText(there).text === text) return clearMarks(there, maskable);
    const button = createStripChip(page, token, position, which);
    chipText(button).text = text;
    return button;
  });
  updateChildren(strip, ...chips);
  const active = activeElement(strip);
  const stop = chips.find((one) => one === active) ?? chips.find((one) => one.tabIndex === 0) ?? chips[0];
  for (const one of chips) one.tabIndex = one === stop ? 0 : -1;
}

/** Removes the marks of the last answer from a chip; in tabs other than "Heads", nothing marks it again. */
function clearMarks(button: HTMLElement, maskable: boolean) {
  button.removeAttribute("style");
  button.classList.remove("key", "query", "locked");
  if (!maskable) button.ariaPressed = null;
  return button;
}

function createStripChip(page: Page, token: Token, position: number, which: Side) {
  const button = createChip(token, position === 0);
  button.dataset.position = String(position);
  button.dataset.tokenId = String(token.id);
  listenToChip(page, button, which);
  if (which === "source") return button;
  const { maskable } = page.state.answer;
  if (maskable) button.ariaPressed = String(token.masked);
  const click = token.masked
    ? "Masked. Click to show it again"
    : token.special
      ? "A special token"
      : "Click to mask this token";
  const clicks = maskable
    ? `${click}; Shift+click pins its row`
    : "Click pins its row and predicts the token after it; Shift+click pins several";
  describeChip(button, token, clicks);
  return button;
}

function listenToChip(page: Page, button: HTMLElement, which: Side) {
  const position = Number(button.dataset.position);
  button.onclick = (event) => onChipClick(page, which, position, isMultiSelect(event));
  const read = () => setHover(page, hoverTarget(page, which, position));
  onHover(button, { read, left: () => setHover(page, null) });
  button.onkeydown = (event) => {
    if (event.key === "Enter" && isMultiSelect(event)) onChipClick(page, which, position, true);
    else if (!onChipKey(page, button, event)) return;
    event.preventDefault();
  };
}

/** A token of either text, as a query if possible; if a row is locked, as a key of that row. */
function hoverTarget(page: Page, which: Side, position: number) {
  const group = currentGroup(page);
  if (!group) return null;
  const { queries, keys } = group;
  const asKey = queries !== which || (queries === keys && page.state.choice.pinned.length);
  return asKey ? { query: null, key: position } : { query: position, key: null };
}

/** Left and right move the focus, Escape unlocks all rows; returns whether the key was handled. */
function onChipKey(page: Page, button: HTMLElement, event: KeyboardEvent) {
  if (event.key === "Escape") clearLocks(page);
  return moveChipFocus(button, event) || event.key === "Escape";
}

function onChipClick(page: Page, which: Side, position: number, more: boolean) {
  const { tokens, maskable } = page.state.answer;
  const asks = currentGroup(page)?.queries === which;
  if (which === "source" || more || !maskable) {
    if (asks) lockQuery(page, position, more);
    else if (which === "text") chooseQuery(page, position);
    return;
  }
  const others = page.state.choice.masked_positions.filter((other) => other !== position);
  const unmasks = others.length < page.state.choice.masked_positions.length;
  if (!unmasks && tokens[position].special) return lockQuery(page, position);
  page.change({
    masked_positions: unmasks ? others : [...others, position].sort((a, b) => a - b),
    query: position,
    pinned: [],
  });
}

/** Shades the tokens by the weights of the active queries, and marks the queries. */
export function shadeTokens(page: Page, matrix: HeadMatrix) {
  const group = currentGroup(page);
  const chips = chipsOf(page.view.elements.tokens);
  const sources = chipsOf(page.view.elements.sourceTokens);
  const sums = columnSums(matrix, activeRows(page, matrix));
  const keys = group.keys === "source" ? sources : chips;
  const queries = group.queries === "source" ? sources : chips;
  for (const button of [...chips, ...sources]) {
    button.style.removeProperty("--shade");
    button.classList.remove("key", "query", "locked");
  }
  keys.forEach((button, place) => {
    const sum = sums[matrix.columnOf.get(place) ?? -1] ?? NaN;
    const strength = Math.sqrt(magnitude(matrix, sum));
    if (strength > 0) button.style.setProperty("--shade", `${Math.round(strength * 100)}%`);
    button.style.setProperty("--tint", matrix.signed && sum < 0 ? NEGATIVE_COLOUR : "var(--beam)");
    button.classList.toggle("key", activeKey(page) === place);
  });
  const hot = activeQueries(page);
  queries.forEach((button, place) => {
    button.classList.toggle("query", hot.includes(place));
    button.classList.toggle("locked", page.state.choice.pinned.includes(place));
  });
  scrollToChosen(page, page.view.elements.tokens, chips);
  if (page.state.answer.maskable) return;
  for (const [place, button] of chips.entries()) button.ariaPressed = String(isPressed(page, place));
}

/** Marks a query and a key, for pictures of one pair only; -1 for none. */
export function markTokens(page: Page, query: MarkedToken, key: MarkedToken = { side: "text", position: -1 }) {
  const { tokens, sourceTokens } = page.view.elements;
  for (const [side, strip] of [
    ["text", tokens],
    ["source", sourceTokens],
  ] as const) {
    for (const [position, chip] of chipsOf(strip).entries()) {
      chip.style.removeProperty("--shade");
      chip.classList.remove("locked");
      chip.classList.toggle("query", side === query.side && position === query.position);
      chip.classList.toggle("key", side === key.side && position === key.position);
    }
  }
}

/** Scrolls a long text to the chosen token, once for each choice. */
function scrollToChosen(page: Page, strip: HTMLElement, chips: HTMLElement[]) {
  const place = chips.findIndex((_, token) => isPressed(page, token));
  const choice = `${place} ${chips.length}`;
  if (place < 0 || shown(strip).choice === choice) return;
  shown(strip).choice = choice;
  const [chip, frame] = [chips[place].getBoundingClientRect(), strip.getBoundingClientRect()];
  if (chip.top < frame.top || chip.bottom > frame.bottom) strip.scrollTop += chip.bottom - frame.bottom + MARGIN;
}

/** Whether a token is locked, or is the query of the prediction. */
function isPressed(page: Page, place: number) {
  const { query, pinned } = page.state.choice;
  const asks = currentGroup(page).queries !== "source";
  return (asks && pinned.includes(place)) || place === (query < 0 ? page.state.answer.tokens.length - 1 : query);
}
