// Tokens that are found in a text as they are written, before a model reads the rest.

import { type Aligned, slice, textOf } from "./aligned.ts";
import type { AddedToken, TokenizerFile } from "./types.ts";

/** A piece of a text, and the added token that it is. */
export type Found = readonly [piece: Aligned, token: AddedToken | null];
export type Finder = (piece: Aligned) => Found[];

/** Finds those added tokens that are written before normalization, or after it. */
export function finder({ added, word, splitsSpecial }: TokenizerFile, normalized: boolean): Finder {
  const tokens = new Map<string, AddedToken>();
  for (const token of added) {
    if (token.normalized === normalized && !tokens.has(token.written)) tokens.set(token.written, token);
  }
  if (tokens.size === 0) return (piece) => [[piece, null]];
  const longestFirst = [...tokens.keys()].sort((first, second) => second.length - first.length);
  const pattern = new RegExp(longestFirst.map((text) => text.replace(/[^a-zA-Z0-9]/gu, escaped)).join("|"), "gu");
  const isWord = new RegExp(word || "(?!)", "u");
  return (piece) => {
    const found: Found[] = [];
    let end = 0;
    for (const [start, stop, text] of matches(piece, pattern)) {
      const token = tokens.get(text) as AddedToken;
      if (token.special && splitsSpecial) continue;
      const neighbours = [piece.characters[start - 1] ?? "", piece.characters[stop] ?? ""];
      if (token.single && neighbours.some((neighbour) => isWord.test(neighbour))) continue;
      const [first, last] = [
        token.left ? withSpaceBefore(piece, start, end) : start,
        token.right ? withSpaceBehind(piece, stop) : stop,
      ];
      if (first > end) found.push([slice(piece, end, first), null]);
      found.push([slice(piece, first, last), token]);
      end = last;
    }
    if (end < piece.characters.length) found.push([slice(piece, end, piece.characters.length), null]);
    return found;
  };
}

const escaped = (character: string) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
const isSpace = (character: string | undefined) => character !== undefined && /\p{White_Space}/u.test(character);

/** What a pattern matches, with its first character and the one behind its last. */
function* matches(piece: Aligned, pattern: RegExp): Generator<[number, number, string]> {
  let [place, units] = [0, 0];
  for (const { index, 0: text } of textOf(piece).matchAll(pattern)) {
    for (; units < index; place++) units += piece.characters[place].length;
    yield [place, place + Array.from(text).length, text];
  }
}

function withSpaceBefore(piece: Aligned, start: number, least: number): number {
  let first = start;
  while (first > least && isSpace(piece.characters[first - 1])) first -= 1;
  return first;
}

function withSpaceBehind(piece: Aligned, stop: number): number {
  let last = stop;
  while (isSpace(piece.characters[last])) last += 1;
  return last;
}
