// Which terms Explore explains, and where: beneath the tokens, the heads and the head's metrics.

import { createElement, inlineText, updateChildren } from "../../ui/frontend/dom/dom.js";
import { find } from "../../ui/frontend/dom/elements.js";
import { remembered } from "../../ui/frontend/state/memory.js";
import { createTermLine } from "../../ui/frontend/terms.js";

/** @import { ExplorePage } from "./types.js" */

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

/** What the tokens have that needs a word: one that nobody typed, and spaces. @param {ExplorePage} page */
export function drawTerms(page) {
  const { tokens, drawn } = memory(page);
  const found = page.state.answer.tokens;
  const special = found.find((token) => token.special);
  const space = found.some(({ text }) => /^ \S/.test(text));
  const key = `${special?.text} ${space}`;
  if (drawn === key) return;
  memory(page).drawn = key;
  const names = [...(special ? ["special"] : []), ...(space ? ["space"] : [])];
  updateChildren(tokens, ...(names.length ? [termLine(page, names, special && inlineText(special.text))] : []));
}
