// Tokens joined to words, as in model/headlight/text/word_groups.py.

import type { EncodedToken } from "../tokenizer/types.ts";

/** The positions of the tokens of each group, which follow each other. */
export type TokenGroups = readonly (readonly number[])[];

type Tokens = readonly EncodedToken[];

// Scripts that write no space between words: there every token is a group of its own.
const NO_SPACES =
  "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
const SIGN = `(?![${NO_SPACES}])[\\p{L}\\p{N}_]`;
const WORD = new RegExp(`(?:${SIGN})+(?:['’](?:${SIGN})+)*`, "gu");

/** The tokens of each word; in punctuation, special tokens and scripts without spaces each token is a group. */
export function wordGroups(text: string, tokens: Tokens): TokenGroups {
  const wordAt = new Map<number, number>(); // a place in the text -> the number of its word
  [...text.matchAll(WORD)].forEach((match, number) => {
    for (let at = match.index; at < match.index + match[0].length; at++) wordAt.set(at, number);
  });
  const groups: number[][] = [];
  let previous = "";
  tokens.forEach(({ start, end, special }, position) => {
    const at = Array.from({ length: end - start }, (_, place) => start + place).find((place) => wordAt.has(place));
    const unit = at === undefined ? `character ${start} ${end}` : `word ${wordAt.get(at)}`;
    const isAlone = special || start === end;
    if (groups.length && !isAlone && unit === previous) (groups.at(-1) as number[]).push(position);
    else groups.push([position]);
    previous = isAlone ? "" : unit;
  });
  return groups;
}

/** The text of each group; a character that several tokens share appears once. */
export function groupTexts(text: string, tokens: Tokens, groups: TokenGroups): string[] {
  return groups.map((group) => {
    const own = group.map((position) => tokens[position]);
    const isShared = own.some(({ start }, place) => place > 0 && start < own[place - 1].end);
    return isShared ? text.slice(own[0].start, own.at(-1)?.end) : own.map((token) => token.text).join("");
  });
}
