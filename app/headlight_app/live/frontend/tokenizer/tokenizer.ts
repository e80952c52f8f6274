// The tokenizer of a page without a server: the same tokens as model/headlight/text/tokenizer.py.

import { Refused } from "../engine/refused.ts";
import { quoted } from "../quoted.ts";
import { finder } from "./added.ts";
import { type Aligned, aligned, textOf } from "./aligned.ts";
import { bytePairs } from "./byte_pairs.ts";
import { SPACE } from "./bytes.ts";
import { decode } from "./decoder.ts";
import { type Ids, type Model, pieces, unigram, words } from "./pieces.ts";
import { steps, textSteps } from "./steps.ts";
import { nameBytes, readToken, type Span, tokenNames } from "./texts.ts";
import type { AroundStep, EncodedToken, Tokenizer, TokenizerFile, TrimStep } from "./types.ts";

/** A token of a text: `text` is what the model read, the span is in characters of the typed text. */
interface Token {
  readonly id: number;
  readonly text: string;
  readonly span: Span;
  readonly special: boolean; // added by the tokenizer
}

/** The entries of the vocabulary, and the texts of single tokens. */
interface Vocabulary {
  entry(id: number): string | null; // null for an id without a token
  text(id: number): string; // each byte of an incomplete character is a lone surrogate
  readonly special: ReadonlySet<string>;
}

export function openTokenizer(file: TokenizerFile): Tokenizer {
  const [read, vocabulary] = [reader(file), vocabularyOf(file)];
  return {
    vocabularySize: file.vocabularySize,
    maskId: file.maskId,
    endId: file.endId,
    tokenText: (id) => nameBytes(vocabulary.text(id)),
    entry: (id) => vocabulary.entry(id) ?? `[${id}]`,
    texts: (ids) => tokenNames(ids.map(vocabulary.text), [], []),
    encode: (typed) => {
      const text = aligned(typed.toWellFormed());
      requireKnown(file, text.characters);
      const tokens = file.postProcessor.reduce(postProcessed, read(text));
      requireRows(file, tokens, vocabulary);
      return encoded(tokens, text.characters, vocabulary);
    },
    decode: (ids) => {
      requireTokens(file, ids);
      const tokens = ids.map(vocabulary.entry).filter((token) => token !== null);
      return decode(
        tokens.filter((token) => !vocabulary.special.has(token)),
        file.decoder,
      );
    },
  };
}

function encoded(tokens: readonly Token[], characters: readonly string[], vocabulary: Vocabulary): EncodedToken[] {
  const spans = tokens.map(({ span, special }): Span => (special ? [0, 0] : span));
  const names = tokenNames(
    tokens.map(({ id }) => vocabulary.text(id)),
    spans,
    characters,
  );
  const units = unitsBefore(characters);
  const spaced = spacesBefore(names, spans, characters);
  return tokens.map(({ id, special }, at) => {
    const [start, end] = spans[at].map((character) => units[character]);
    return { id, text: names[at], special, start, end, spaceBefore: spaced[at] };
  });
}

/** Whether white space precedes each token that is not in its text. */
function spacesBefore(names: readonly string[], spans: readonly Span[], characters: readonly string[]): boolean[] {
  let previousEnd = 0;
  return spans.map(([start, end], at) => {
    const between = [...characters.slice(previousEnd, start), ...characters.slice(start, Math.min(end, start + 1))];
    previousEnd = Math.max(previousEnd, end);
    return end > start && between.some(isWhite) && !isWhite(names[at].slice(0, 1));
  });
}

/** As `str.isspace` in Python. */
function isWhite(character: string): boolean {
  return /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/.test(character);
}

/** The number of UTF-16 units before each character, and in all. */
function unitsBefore(characters: readonly string[]): number[] {
  const units = [0];
  for (const character of characters) units.push(units[units.length - 1] + character.length);
  return units;
}

/** What reads the tokens of a text, without those that are added around it. */
function reader(file: TokenizerFile): (text: Aligned) => Token[] {
  const [asWritten, normalized] = [finder(file, false), finder(file, true)];
  const [normalize, cut, model] = [textSteps(file.normalizer), steps(file.preTokenizer), modelOf(file)];
  const tokensOf = (piece: Aligned): Token[] =>
    model(piece.characters).map(({ id, text, start, end }) => {
      return { id, text, span: [piece.starts[start], piece.ends[end - 1]], special: false };
    });
  const added = (piece: Aligned, id: number): Token => {
    return { id, text: textOf(piece), span: [piece.starts[0], piece.ends[piece.ends.length - 1]], special: false };
  };
  return (text) =>
    asWritten(text).flatMap(([piece, token]) =>
      token
        ? [added(piece, token.id)]
        : normalized(normalize(piece)).flatMap(([part, other]) =>
            other ? [added(part, other.id)] : cut(part).flatMap(tokensOf),
          ),
    );
}

function modelOf({ model, tokens }: TokenizerFile): Model {
  const ids: Ids = new Map(tokens.flatMap((token, id) => (token === null ? [] : [[token, id] as const])));
  switch (model.kind) {
    case "words":
      return words(model, ids);
    case "pieces":
      return pieces(model, ids);
    case "unigram":
      return unigram(model, ids);
    case "pairs":
      return bytePairs(model, ids, tokens);
    default:
      throw new Error(`The tokenizer has a model that this page does not know: ${JSON.stringify(model)}.`);
  }
}

function postProcessed(tokens: readonly Token[], step: TrimStep | AroundStep): Token[] {
  if (step.kind === "trim") return tokens.map((token, at) => trimmed(token, at, step.keepsFirst));
  const around = (id: number): Token => ({ id, text: "", span: [0, 0], special: true });
  return [...step.before.map(around), ...tokens, ...step.after.map(around)];
}

/** The token with a span that leaves out the white space at both ends of its text. */
function trimmed(token: Token, at: number, keepsFirst: boolean): Token {
  const isSpace = (character: string) => character === SPACE || /\p{White_Space}/u.test(character);
  const characters = Array.from(token.text);
  const count = (index: number) => (index < 0 ? characters.length : index);
  const behind = count(characters.toReversed().findIndex((character) => !isSpace(character)));
  let before = count(characters.findIndex((character) => !isSpace(character)));
  let [start, end] = token.span;
  if (before === 1 && keepsFirst && (at === 0 || start === 0)) before = 0; // it was put there
  start = Math.min(start + before, end);
  if (behind > 0 && end >= behind) end = Math.max(end - behind, start);
  return { ...token, span: [start, end] };
}

function vocabularyOf({ added, tokens, decoder, vocabularySize }: TokenizerFile): Vocabulary {
  const contents = new Map(added.map((token) => [token.id, token.content]));
  const special = added.filter((token) => token.special);
  const specialIds = new Set(special.map((token) => token.id));
  const entry = (id: number) => contents.get(id) ?? tokens[id] ?? null;
  const text = (id: number) => {
    const token = id < vocabularySize ? entry(id) : null;
    if (token === null) return `[${id}]`;
    return specialIds.has(id) ? token : (decoder ?? []).reduce(readToken, token);
  };
  return { entry, text, special: new Set(special.map((token) => token.content)) };
}

// Errors, in the words of model/headlight/text/tokenizer.py.

function requireTokens({ vocabularySize, modelSize }: TokenizerFile, ids: readonly number[]): void {
  const size = Math.max(vocabularySize, modelSize ?? 0);
  for (const id of ids) {
    if (id >= 0 && id < size) continue;
    throw new Refused(`There is no token ${id}: this vocabulary has the numbers 0 to ${size - 1}.`);
  }
}

function requireKnown(file: TokenizerFile, characters: readonly string[]): void {
  if (!file.hasLettersAlone || file.model.kind !== "words" || file.unknownId !== null) return;
  const known = new Set([...file.tokens, ...file.added.map((token) => token.content)]);
  const unknown = [...new Set(characters)].filter((character) => !known.has(character)).sort();
  if (unknown.length === 0) return;
  const listed = unknown.slice(0, 5).map(quoted);
  throw new Refused(`This model's vocabulary of ${file.vocabularySize} characters lacks ${listed.join(", ")}.`);
}

function requireRows(file: TokenizerFile, tokens: readonly Token[], { entry }: Vocabulary): void {
  const padding = tokens.find(({ id }) => file.uncountedIds.includes(id));
  if (padding)
    throw new Refused(
      `The text has the padding token ${quoted(entry(padding.id) ?? "")}. This model counts positions without padding, which ` +
        "Headlight does not compute. Leave it out.",
    );
  const size = file.modelSize;
  const beyond = size === null ? undefined : tokens.find(({ id }) => id >= size);
  if (size !== null && beyond)
    throw new Refused(
      `The text has the token ${quoted(entry(beyond.id) ?? "")}, whose id is ${beyond.id}; the model's embedding ends at ` +
        `${size - 1}. Leave it out.`,
    );
}
