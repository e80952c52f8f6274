// Text whose characters know where they come from: [start, end) in characters of the text that was typed.

import type { SplitStep } from "./types.ts";

export interface Aligned {
  readonly characters: readonly string[];
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly shift: number; // where the piece itself begins
}

/**
 * What becomes of a text, character by character: 0 replaces the next old character, -N also removes the N after it,
 * and 1 inserts a character, which comes from where the old one before it does.
 */
export type Change = readonly [character: string, change: number];

/** A stretch of characters, and whether a pattern matches it. */
export type Stretch = readonly [start: number, end: number, matches: boolean];

export function aligned(text: string): Aligned {
  const characters = Array.from(text);
  return { characters, starts: characters.map((_, at) => at), ends: characters.map((_, at) => at + 1), shift: 0 };
}

export function textOf(piece: Aligned): string {
  return piece.characters.join("");
}

export function slice(piece: Aligned, start: number, end: number): Aligned {
  return {
    characters: piece.characters.slice(start, end),
    starts: piece.starts.slice(start, end),
    ends: piece.ends.slice(start, end),
    shift: piece.starts[start] ?? piece.shift,
  };
}

/** The text after changes to the characters from `first` to `last`, of which the first `removed` are left out. */
export function changed(
  piece: Aligned,
  changes: Iterable<Change>,
  { removed = 0, first = 0, last = piece.characters.length } = {},
): Aligned {
  const characters = piece.characters.slice(0, first);
  const starts = piece.starts.slice(0, first);
  const ends = piece.ends.slice(0, first);
  let old = first + removed;
  for (const [character, change] of changes) {
    const from = change > 0 ? old - 1 : old;
    characters.push(character);
    starts.push(piece.starts[from] ?? piece.shift);
    ends.push(piece.ends[from] ?? piece.shift);
    if (change <= 0) old += 1 - change;
  }
  return {
    characters: characters.concat(piece.characters.slice(last)),
    starts: starts.concat(piece.starts.slice(last)),
    ends: ends.concat(piece.ends.slice(last)),
    shift: piece.shift,
  };
}

/**
 * The stretches that a pattern matches and those between them, in order. An empty match behind another is none, and
 * nothing matches an empty text.
 */
export function stretches(piece: Aligned, pattern: RegExp): Stretch[] {
  const found: Stretch[] = [];
  if (piece.characters.length === 0) return found;
  const placeOf = places(piece);
  let end = 0;
  let matchedTo = -1;
  for (const match of textOf(piece).matchAll(pattern)) {
    const [from, to] = [placeOf(match.index), placeOf(match.index + match[0].length)];
    if (from === to && from === matchedTo) continue;
    if (from > end) found.push([end, from, false]);
    found.push([from, to, true]);
    end = matchedTo = to;
  }
  if (end < piece.characters.length) found.push([end, piece.characters.length, false]);
  return found;
}

/** From places in the text's UTF-16 units, which may only grow, to places among its characters. */
function places(piece: Aligned): (unit: number) => number {
  let place = 0;
  let units = 0;
  return (unit) => {
    for (; units < unit; place++) units += piece.characters[place].length;
    return place;
  };
}

export function split(piece: Aligned, pattern: RegExp, { behavior, invert }: SplitStep): Aligned[] {
  let found = stretches(piece, pattern);
  if (invert) found = found.map(([start, end, matches]) => [start, end, !matches]);
  if (behavior === "Removed") found = found.filter(([, , matches]) => !matches);
  else if (behavior === "Contiguous") found = joined(found, (matches, before) => matches === before);
  else if (behavior === "MergedWithPrevious") found = joined(found, (matches, before) => matches && !before);
  else if (behavior === "MergedWithNext") {
    const backwards = found.reverse().map(([start, end, matches]): Stretch => [-end, -start, matches]);
    const merged = joined(backwards, (matches, before) => matches && !before);
    found = merged.map(([start, end, matches]): Stretch => [-end, -start, matches]).reverse();
  }
  return found.filter(([start, end]) => end > start).map(([start, end]) => slice(piece, start, end));
}

/** The stretches, each joined to the one before it if the rule says so. */
function joined(found: readonly Stretch[], joins: (matches: boolean, before: boolean) => boolean): Stretch[] {
  const made: Stretch[] = [];
  let before = false;
  for (const [start, end, matches] of found) {
    const last = made.at(-1);
    if (last && joins(matches, before)) made[made.length - 1] = [last[0], end, last[2]];
    else made.push([start, end, matches]);
    before = matches;
  }
  return made;
}
