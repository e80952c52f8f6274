// The steps that change a text and cut it into pieces, before a model reads them.

import { type Aligned, type Change, changed, split, stretches, textOf } from "./aligned.ts";
import { alphabetOf } from "./bytes.ts";
import type { PieceStep, TextStep } from "./types.ts";

export type PieceFunction = (piece: Aligned) => Aligned[];
type TextFunction = (piece: Aligned) => Aligned;
type Of<Kind extends TextStep["kind"]> = Extract<TextStep, { kind: Kind }>;

/** What a row of steps makes of a piece of text. */
export function steps(rows: readonly PieceStep[]): PieceFunction {
  const made = rows.map(step);
  return (piece) => made.reduce((pieces, make) => pieces.flatMap(make), [piece]).filter(isNotEmpty);
}

/** What a row of steps that cut nothing makes of a text. */
export function textSteps(rows: readonly TextStep[]): TextFunction {
  const made = rows.map(textStep);
  return (piece) => made.reduce((text, make) => make(text), piece);
}

const isNotEmpty = (piece: Aligned) => piece.characters.length > 0;

function step(row: PieceStep): PieceFunction {
  if (row.kind === "split") {
    const pattern = new RegExp(row.pattern, "gu");
    return (piece) => split(piece, pattern, row);
  }
  const make = textStep(row);
  return (piece) => [make(piece)];
}

function textStep(row: TextStep): TextFunction {
  switch (row.kind) {
    case "remove":
      return remove(new RegExp(row.pattern, "u"));
    case "surround":
      return surround(new RegExp(row.pattern, "u"));
    case "replace":
      return replace(row);
    case "strip":
      return strip(row);
    case "prepend":
      return prepend(row);
    case "form":
      return normalForm(row);
    case "map":
      return mapped(new Map(row.entries));
    case "lowercase":
      return (piece) =>
        changed(
          piece,
          each(piece, (character) => Array.from(character.toLowerCase())),
        );
    case "bytes":
      return (piece) => changed(piece, each(piece, alphabetOf));
    default:
      throw new Error(`The tokenizer has a step that this page does not know: ${JSON.stringify(row)}.`);
  }
}

/** The changes that put characters in the place of each one. */
function each(piece: Aligned, make: (character: string) => readonly string[]): Change[] {
  return piece.characters.flatMap((old) => make(old).map((character, at): Change => [character, at > 0 ? 1 : 0]));
}

/** The text without characters. */
function without(piece: Aligned, isLost: (character: string, at: number) => boolean): Aligned {
  const kept: [string, number][] = [];
  let removed = 0;
  piece.characters.forEach((character, at) => {
    if (!isLost(character, at)) kept.push([character, 0]);
    else if (kept.length > 0) kept[kept.length - 1][1] -= 1;
    else removed += 1;
  });
  return kept.length < piece.characters.length ? changed(piece, kept, { removed }) : piece;
}

function remove(pattern: RegExp): TextFunction {
  return (piece) => without(piece, (character) => pattern.test(character));
}

/** Spaces around each character that the pattern matches. */
function surround(pattern: RegExp): TextFunction {
  return (piece) =>
    changed(
      piece,
      each(piece, (character) => (pattern.test(character) ? [" ", character, " "] : [character])),
    );
}

function strip({ pattern, left, right }: Of<"strip">): TextFunction {
  const space = new RegExp(pattern, "u");
  return (piece) => {
    const { characters } = piece;
    const first = left ? characters.findIndex((character) => !space.test(character)) : 0;
    const last = right ? characters.findLastIndex((character) => !space.test(character)) : characters.length - 1;
    return without(piece, (_, at) => first < 0 || at < first || at > last);
  };
}

function prepend({ text, when }: Of<"prepend">): TextFunction {
  const [first, ...others] = Array.from(text);
  return (piece) => {
    const [next] = piece.characters;
    if (next === undefined || first === undefined) return piece;
    if (when !== "always" && next === first) return piece;
    if (when === "first" && piece.shift > 0) return piece;
    const changes: Change[] = [[first, 0], ...[...others, next].map((character): Change => [character, 1])];
    return changed(piece, changes, { last: 1 });
  };
}

function replace({ pattern, content }: Of<"replace">): TextFunction {
  const expression = new RegExp(pattern, "gu");
  const changes = Array.from(content, (character): Change => [character, 1]);
  return (piece) => {
    const matches = stretches(piece, expression).filter(([, , isMatch]) => isMatch);
    // From the last one, so that the places of the others stay.
    return matches.reduceRight(
      (text, [first, last]) => changed(text, changes, { removed: last - first, first, last }),
      piece,
    );
  };
}

/** A normal form of Unicode, in the version that `known` belongs to: other characters stay as they are. */
function normalForm({ form, known }: Of<"form">): TextFunction {
  const isKnown = new RegExp(known, "u");
  const decomposed = form.includes("K") ? "NFKD" : "NFD";
  const isNew = (character: string) =>
    (character.normalize(decomposed) !== character || /\p{M}/u.test(character)) && !isKnown.test(character);
  return (piece) => {
    if (/^[\0-\x7f]*$/.test(textOf(piece))) return piece;
    const changes: Change[] = [];
    let run: string[] = [];
    for (const character of [...piece.characters, ""]) {
      if (character !== "" && !isNew(character)) run.push(character);
      else {
        changes.push(...formOf(run, form, decomposed));
        if (character !== "") changes.push([character, 0]);
        run = [];
      }
    }
    return changed(piece, changes);
  };
}

/** The changes of a normal form: decomposed characters are ordered, then composed from the first that is left of each. */
function formOf(characters: readonly string[], form: string, decomposed: string): Change[] {
  const left = new Map<string, number[]>();
  for (const character of characters) {
    Array.from(character.normalize(decomposed)).forEach((part, at) => {
      left.set(part, [...(left.get(part) ?? []), at > 0 ? 1 : 0]);
    });
  }
  return Array.from(characters.join("").normalize(form), (character): Change => {
    const parts = form.endsWith("C") ? Array.from(character.normalize("NFD")) : [character];
    const sum = parts.reduce((total, part) => total + (left.get(part)?.shift() ?? 0), 0);
    return [character, sum - (parts.length - 1)];
  });
}

/** SentencePiece's table: the shortest text that a grapheme of at most five bytes begins with, else each character. */
function mapped(entries: ReadonlyMap<string, string>): TextFunction {
  const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
  const made = (characters: readonly string[]) => {
    const starts = characters.map((_, at) => characters.slice(0, at + 1).join(""));
    return starts.map((start) => entries.get(start)).find((text) => text !== undefined);
  };
  const parts = (grapheme: string): [string[], string | undefined][] => {
    const characters = Array.from(grapheme);
    const whole = new TextEncoder().encode(grapheme).length < 6 ? made(characters) : undefined;
    return whole !== undefined
      ? [[characters, whole]]
      : characters.map((character) => [[character], made([character])]);
  };
  return (piece) => {
    const changes: [string, number][] = [];
    for (const { segment } of graphemes.segment(textOf(piece))) {
      for (const [old, text] of parts(segment)) put(changes, old, text ?? old[0]);
    }
    return changed(piece, changes);
  };
}

/** Adds the changes that put a text in the place of characters; nothing at the very beginning replaces none. */
function put(changes: [string, number][], old: readonly string[], text: string): void {
  const characters = Array.from(text);
  characters.forEach((character, at) => {
    changes.push([character, at < old.length ? 0 : 1]);
  });
  const last = changes.at(-1);
  if (last && characters.length < old.length) last[1] -= old.length - characters.length;
}
