// The models that split a piece of a text into tokens; byte pairs have a module of their own.

import { Refused } from "../engine/refused.ts";
import { quoted } from "../quoted.ts";
import { fallbackTokens } from "./bytes.ts";
import type { PiecesFile, UnigramFile, WordsFile } from "./types.ts";

/** A token of a piece, with the characters of the piece that it covers. */
export interface Part {
  readonly id: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export type Model = (characters: readonly string[]) => Part[];
export type Ids = ReadonlyMap<string, number>;

/** The id of the unknown token. */
export function unknownId(ids: Ids, unknown: string): number {
  const id = ids.get(unknown);
  if (id === undefined) throw new Refused(`This model's vocabulary lacks ${quoted(unknown)}, for unknown words.`);
  return id;
}

/** The tokens of a text's bytes; none if a byte lacks one, or the model has no such tokens. */
export function byteParts(text: string, start: number, end: number, file: { fallsBack: boolean }, ids: Ids): Part[] {
  if (!file.fallsBack) return [];
  const parts = fallbackTokens(text).map((byte) => ({ id: ids.get(byte), text: byte, start, end }));
  return parts.every((part): part is Part => part.id !== undefined) ? parts : [];
}

/** Every piece is one token. */
export function words({ unknown }: WordsFile, ids: Ids): Model {
  return (characters) => {
    const text = characters.join("");
    const id = ids.get(text);
    const end = characters.length;
    return [
      id === undefined ? { id: unknownId(ids, unknown), text: unknown, start: 0, end } : { id, text, start: 0, end },
    ];
  };
}

/** WordPiece: the longest token first; a word without a full split is one unknown token. */
export function pieces({ unknown, prefix, longest }: PiecesFile, ids: Ids): Model {
  return (characters) => {
    const found: Part[] = [];
    const whole = () => [{ id: unknownId(ids, unknown), text: unknown, start: 0, end: characters.length }];
    if (characters.length > longest) return whole();
    for (let start = 0; start < characters.length; ) {
      let end = characters.length;
      const text = () => (start > 0 ? prefix : "") + characters.slice(start, end).join("");
      while (end > start && !ids.has(text())) end -= 1;
      if (end === start) return whole();
      found.push({ id: unknownId(ids, text()), text: text(), start, end });
      start = end;
    }
    return found;
  };
}

const UNKNOWN_PENALTY = 10; // below the lowest score

interface Best {
  readonly score: number;
  readonly start: number;
  readonly isUnknown: boolean;
}

/** Unigram: the split with the highest sum of scores; neighbouring unknown characters are one token. */
export function unigram(file: UnigramFile, ids: Ids): Model {
  const longest = [...ids.keys()].reduce((most, token) => Math.max(most, Array.from(token).length), 0);
  const unknownScore = file.scores.reduce((least, score) => Math.min(least, score), Infinity) - UNKNOWN_PENALTY;
  return (characters) => {
    const best: (Best | undefined)[] = [{ score: 0, start: 0, isUnknown: false }];
    const offer = (end: number, score: number, start: number, isUnknown: boolean) => {
      const known = best[end];
      if (!known || score > known.score) best[end] = { score, start, isUnknown };
    };
    for (let start = 0; start < characters.length; start++) {
      const { score } = best[start] as Best;
      let text = "";
      let isAlone = false;
      for (let end = start + 1; end <= Math.min(characters.length, start + longest); end++) {
        text += characters[end - 1];
        const id = ids.get(text);
        if (id === undefined) continue;
        offer(end, score + file.scores[id], start, id === file.unknownId);
        if (end === start + 1) isAlone = true;
      }
      if (!isAlone) offer(start + 1, score + unknownScore, start, true);
    }
    return stretchesOf(best as Best[]).flatMap(([start, end]) => partsOf(characters, start, end, file, ids));
  };
}

/** The tokens' stretches on the best path; unknown ones that follow each other are joined. */
function stretchesOf(best: readonly Best[]): [number, number][] {
  const found: [number, number][] = [];
  let wasUnknown = false;
  for (let end = best.length - 1; end > 0; ) {
    const { start, isUnknown } = best[end];
    if (isUnknown && wasUnknown) found[found.length - 1][0] = start;
    else found.push([start, end]);
    wasUnknown = isUnknown;
    end = start;
  }
  return found.reverse();
}

/** The token of a stretch, the tokens of its bytes, or the unknown token. */
function partsOf(characters: readonly string[], start: number, end: number, file: UnigramFile, ids: Ids): Part[] {
  const text = characters.slice(start, end).join("");
  const id = ids.get(text);
  if (id !== undefined) return [{ id, text, start, end }];
  const bytes = byteParts(text, start, end, file, ids);
  if (bytes.length > 0) return bytes;
  if (file.unknownId === null) throw new Refused("This model's tokenizer fails at this text: it has no unknown token.");
  return [{ id: file.unknownId, text, start, end }];
}
