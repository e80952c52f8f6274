// The terms that Explore explains, below the tokens, the heads and the head's metrics.

import { createElement, inlineText, updateChildren } from "../../ui/frontend/dom/dom.js";
import { find } from "../../ui/frontend/dom/elements.js";
import { remembered } from "../../ui/frontend/dom/memory.js";
import { createTermLine } from "../../ui/frontend/terms.js";

/** @import { ExplorePage, Token } from "./types.js" */

const MANY_PIECES = 1.8; // average per word
const UNKNOWN = /^(\[UNK\]|<unk>)$/;

const memory = remembered((/** @type {ExplorePage} */ page) => {
  const tokens = createElement("div");
  const { elements } = page.view;
  tokens.className = "of-tokens";
  elements.tokenIds.before(tokens);
  find(elements.headsTab, ".heads footer").after(termLine(page, ["head", "square_root"]));
  elements.metrics.after(termLine(page, ["entropy"]));
  return { tokens, drawn: "" };
});

/** @param {ExplorePage} page @param {string[]} names @param {string} [token] */
function termLine(page, names, token) {
  const terms = names.map((name) => page.state.catalogue.terms[name]);
  return createTermLine(terms, () => page.reporter.flush(), token);
}

/**
 * The terms to explain for some tokens, each with an example token: special and unknown tokens, word pieces, spaces,
 * new lines.
 * @param {Pick<Token, "text" | "special">[]} tokens @returns {[string, string][]}
 */
export function termsOf(tokens) {
  const first = (/** @type {(token: Pick<Token, "text" | "special">) => boolean} */ suits) => tokens.find(suits)?.text;
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
 * @param {Pick<Token, "text" | "special">[]} tokens
 */
function isCut(tokens) {
  const pieces = tokens.filter(({ special, text }) => !special && /\p{L}/u.test(text));
  const isByLetter = pieces.every(({ text }) => text.trim().length === 1);
  const words = pieces.filter(({ text }, place) => place === 0 || text.startsWith(" "));
  return pieces.length > 2 && !isByLetter && pieces.length >= MANY_PIECES * words.length;
}

/** @param {ExplorePage} page */
export function drawTerms(page) {
  const { tokens, drawn } = memory(page);
  const terms = termsOf(page.state.answer.tokens);
  const key = JSON.stringify(terms.map(([name, text]) => (name === "space" ? name : text)));
  if (drawn === key) return;
  memory(page).drawn = key;
  updateChildren(tokens, ...terms.map(([name, text]) => termLine(page, [name], inlineText(text))));
}
