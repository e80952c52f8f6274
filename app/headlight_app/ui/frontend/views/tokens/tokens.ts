// Tokens as chips with words below them, or as running text; the note tells the one under the pointer, or else the chosen one.

import { HEAD_COLOURS, hexColour, tint } from "../../charts/colours.ts";
import { createChip, createElement, inlineText, listenToChip, onHover, visibleText } from "../../dom/dom.ts";
import type { Surroundings, TokensView } from "../types.ts";
import { tellChip } from "./places.ts";

const PRINTED_SHADE = 0.4; // of a group's colour in white

export function createTokens(view: TokensView, surroundings: Surroundings, note: HTMLElement) {
  if (view.details.length) {
    note.ariaLive = "off";
    note.classList.add("telling", "pointed");
    note.dataset.rest = view.note;
  }
  if (view.as_text) return createRunningText(view, note);
  const isRead = view.details.length || view.picks.length;
  return withLegend(view, isRead ? createChips(view, surroundings, note) : createList(view));
}

/** Chips without a note of their own. */
function createList(view: TokensView) {
  const items = view.tokens.map((token, index) => {
    const chip = createElement("bdi", "chip", visibleText(token));
    shadeToken(chip, view, index);
    const words = [view.labels[index], view.below[index]].filter(Boolean);
    return createElement("li", "", [chip, ...words.map((one) => createElement("span", "quiet", one))]);
  });
  return createElement("ol", "token-list", items);
}

/** The names of the groups above the tokens. */
function withLegend({ group_titles }: TokensView, tokens: HTMLElement) {
  return group_titles.length ? createElement("div", "", [...createGroupNames(group_titles), tokens]) : tokens;
}

/** The colours of groups and their names, if they have any. */
export function createGroupNames(titles: string[]) {
  const legend = titles.map((title, group) => {
    const entry = createElement("span", "kind", title);
    entry.style.setProperty("--tint", colourOfGroup(group));
    return entry;
  });
  return legend.length ? [createElement("p", "kinds", legend)] : [];
}

/** The colour of a group of tokens, as #rrggbb; none if it is negative. */
export function colourOfGroup(group: number | undefined) {
  return group === undefined || group < 0 ? "" : HEAD_COLOURS[group % HEAD_COLOURS.length];
}

/** The colour of a group behind a token of a figure, and of a part of a strip there. */
export function printedGroup(group: number) {
  return hexColour(tint(colourOfGroup(group), PRINTED_SHADE));
}

function shadeToken(token: HTMLElement, { shades, groups }: TokensView, index: number) {
  const colour = colourOfGroup(groups[index]);
  token.classList.toggle("grouped", Boolean(colour));
  if (colour) token.style.setProperty("--tint", colour);
  if (!shades.length) return;
  token.style.setProperty("--shade", `${Math.round(Math.min(Math.abs(shades[index]), 1) * 100)}%`);
  token.classList.toggle("minus", shades[index] < 0);
}

/** Chips that the pointer and the arrow keys read. */
function createChips(view: TokensView, surroundings: Surroundings, note: HTMLElement) {
  const chips = view.tokens.map((_, index) => createReadChip(view, surroundings, note, index));
  return createElement("div", "token-chips", chips, { role: "group", ariaLabel: view.title || "Tokens" });
}

function createReadChip(view: TokensView, { picks, mark }: Surroundings, note: HTMLElement, index: number) {
  const [text, pick, place] = [view.tokens[index], view.picks[index], view.places[index]];
  const chip = createChip({ text, special: false, masked: false }, index === 0);
  const words = [view.labels[index], view.below[index]];
  if (words[0]) chip.append(createElement("b", "", words[0]));
  if (words[1]) chip.append(createElement("small", "", words[1]));
  shadeToken(chip, view, index);
  if (place) chip.dataset.place = place.join(" ");
  if (view.details[index]) chip.dataset.words = noteOf(text, view.details[index]);
  if (pick && picks) {
    chip.classList.toggle("query", picks.isChosen(pick));
    if (chip.matches(".query")) tellChip(chip, note);
    chip.onclick = () => picks.choose(pick);
  }
  listenToChip(chip, {
    read: () => {
      tellChip(chip, note);
      if (place) mark?.(place);
    },
    left: () => {
      tellChip(chip.parentElement?.querySelector(".chip.query"), note);
      mark?.(null);
    },
  });
  return chip;
}

function noteOf(token: string, detail: string) {
  return `\u2068“${inlineText(token)}”\u2069: ${detail}`;
}

function createRunningText(view: TokensView, note: HTMLElement) {
  const spans = view.tokens.map((token, index) => {
    const span = createElement("bdi", "", visibleText(token).replace(/^·(?=.)/, " "));
    shadeToken(span, view, index);
    const detail = view.details[index];
    if (detail === undefined) return span;
    span.title = detail;
    onHover(span, {
      read: () => {
        note.textContent = noteOf(token, detail);
      },
      left: () => {
        note.textContent = view.note;
      },
    });
    return span;
  });
  return createElement("p", "shaded-text", spans);
}
