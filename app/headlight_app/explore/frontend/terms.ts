// The terms that Explore explains, below the tokens, the heads and the head's metrics.

import { createElement, inlineText, updateChildren } from "../../ui/frontend/dom/dom.ts";
import { find } from "../../ui/frontend/dom/elements.ts";
import { remembered } from "../../ui/frontend/dom/memory.ts";
import { createTermLine } from "../../ui/frontend/terms.ts";
import type { ExplorePage, Token } from "./types.ts";

const MANY_PIECES = 1.8; // average per word
const UNKNOWN = /^(\[UNK\]|<unk>)$/;

const memory = remembered((page: ExplorePage) => {
  const tokens = createElement("div");
  const { elements } = page.view;
  tokens.className = "of-tokens";
  elements.tokenIds.before(tokens);
  find(elements.headsTab, ".heads footer").after(termLine(page, ["head", "square_root"]));
  elements.metrics.after(termLine(page, ["entropy"]));
  return { tokens, drawn: "" };
});

function termLine(page: ExplorePage, names: string[], token?: string) {
  const terms = names.map((name) => page.state.catalogue.terms[name]);
  return createTermLine(terms, () => page.reporter.flush(), token);
}

/**
 * The terms to explain for some tokens, each with an example token: special and unknown tokens, word pieces, spaces,
 * new lines.
 */
export function termsOf(tokens: Pick<Token, "text" | "special">[]): [string, string][] {
  const first = (suits: (token: Pick<Token, "text" | "special">) => boolean) => tokens.find(suits)?.text;
  const found = {
    special: first(({ special, text }) => special && !UNKNOWN.test(text)),
    unknown: first(({ text }) => UNKNOWN.test(text)),
    pieces: isCut(tokens) ? "" : undefined,
    space: first(({ text }) => /^ \S/.test(text)),
    line: first(({ text }) => text.includes("\n")) && "",
  };
  return Object.entries(found).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]));
}

/**
 * Whether most words are split into pieces, as in a language unknown to the model. A model that reads letter by letter
 * splits none.
 */
function isCut(tokens: Pick<Token, "text" | "special">[]) {
  const pieces = tokens.filter(({ special, text }) => !special && /\p{L}/u.test(text));
  const isByLetter = pieces.every(({ text }) => text.trim().length === 1);
  const words = pieces.filter(({ text }, place) => place === 0 || text.startsWith(" "));
  return pieces.length > 2 && !isByLetter && pieces.length >= MANY_PIECES * words.length;
}

export function drawTerms(page: ExplorePage) {
  const { tokens, drawn } = memory(page);
  const terms = termsOf(page.state.answer.tokens);
  const key = JSON.stringify(terms.map(([name, text]) => (name === "space" ? name : text)));
  if (drawn === key) return;
  memory(page).drawn = key;
  updateChildren(tokens, ...terms.map(([name, text]) => termLine(page, [name], inlineText(text))));
}
