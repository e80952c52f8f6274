// A tokenizer without a server: what the page asks of it, and the file that model/headlight/live/tokenizer writes.

/** As a token of `tokens_json` in model/headlight/rendering/html.py; `start` and `end` count UTF-16 units of the text. */
export interface EncodedToken {
  readonly id: number;
  readonly text: string;
  readonly special: boolean;
  readonly start: number;
  readonly end: number;
  /** Whether white space precedes it that is not in its text. */
  readonly spaceBefore: boolean;
}

export interface Tokenizer {
  /** The tokens of a text. Throws a Refused with a sentence for a text that the tokenizer cannot read. */
  encode(text: string): EncodedToken[];
  /** The text of tokens, without special ones. */
  decode(ids: readonly number[]): string;
  /** The text of one token with its spaces; part of a character is "byte E2", an unused id "[id]". */
  tokenText(id: number): string;
  /** The vocabulary's entry of a token, such as "Ġcat". */
  entry(id: number): string;
  /** The texts of consecutive tokens: of a character in several tokens, each is a numbered part of it. */
  texts(ids: readonly number[]): string[];
  readonly vocabularySize: number;
  readonly maskId: number | null;
  readonly endId: number | null;
}

export interface TokenizerFile {
  readonly tokens: readonly (string | null)[]; // of the model, by id
  readonly added: readonly AddedToken[];
  readonly word: string; // the pattern of a character of a word
  readonly splitsSpecial: boolean; // special tokens that are typed are read as text
  readonly normalizer: readonly TextStep[];
  readonly preTokenizer: readonly PieceStep[];
  readonly model: ModelFile;
  readonly postProcessor: readonly (TrimStep | AroundStep)[];
  readonly decoder: readonly DecoderStep[] | null;
  readonly vocabularySize: number;
  readonly modelSize: number | null; // rows of the model's embedding
  readonly uncountedIds: readonly number[];
  readonly hasLettersAlone: boolean; // every token is one character
  readonly maskId: number | null;
  readonly endId: number | null;
  readonly unknownId: number | null;
}

/** A token that is found in a text as it is `written`, before the model reads the rest. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly written: string;
  readonly special: boolean;
  readonly normalized: boolean; // it is found after normalization
  readonly single: boolean; // it is a word of its own
  readonly left: boolean; // it takes the white space before it
  readonly right: boolean;
}

/** A change of a text; patterns are expressions for the flag `u`. */
export type TextStep =
  | { readonly kind: "remove" | "surround"; readonly pattern: string }
  | { readonly kind: "replace"; readonly pattern: string; readonly content: string }
  | { readonly kind: "strip"; readonly pattern: string; readonly left: boolean; readonly right: boolean }
  | { readonly kind: "prepend"; readonly text: string; readonly when: "always" | "unless" | "first" }
  | { readonly kind: "form"; readonly form: "NFC" | "NFD" | "NFKC" | "NFKD"; readonly known: string }
  | { readonly kind: "map"; readonly entries: readonly (readonly [string, string])[] }
  | { readonly kind: "lowercase" | "bytes" };

export interface SplitStep {
  readonly kind: "split";
  readonly pattern: string;
  readonly behavior: "Removed" | "Isolated" | "MergedWithPrevious" | "MergedWithNext" | "Contiguous";
  readonly invert: boolean;
}

export type PieceStep = TextStep | SplitStep;

export interface WordsFile {
  readonly kind: "words";
  readonly unknown: string;
}

export interface PiecesFile {
  readonly kind: "pieces";
  readonly unknown: string;
  readonly prefix: string;
  readonly longest: number; // characters of a word
}

export interface UnigramFile {
  readonly kind: "unigram";
  readonly scores: readonly number[];
  readonly unknownId: number | null;
  readonly fallsBack: boolean;
}

export interface PairsFile {
  readonly kind: "pairs";
  readonly merges: readonly number[]; // the ids of both halves, merge after merge
  readonly unknown: string | null;
  readonly prefix: string;
  readonly suffix: string;
  readonly fusesUnknown: boolean;
  readonly fallsBack: boolean;
  readonly ignoresMerges: boolean;
}

export type ModelFile = WordsFile | PiecesFile | UnigramFile | PairsFile;

/** The ends of tokens leave out white space; `keepsFirst` is for a space that was put before the text. */
export interface TrimStep {
  readonly kind: "trim";
  readonly keepsFirst: boolean;
}

export interface AroundStep {
  readonly kind: "around";
  readonly before: readonly number[];
  readonly after: readonly number[];
}

export type DecoderStep =
  | { readonly kind: "bytes" | "fallback" | "fuse" }
  | { readonly kind: "end"; readonly suffix: string }
  | { readonly kind: "spaces"; readonly sign: string; readonly keepsFirst: boolean }
  | { readonly kind: "replace"; readonly pattern: string; readonly content: string; readonly isText: boolean }
  | { readonly kind: "strip"; readonly text: string; readonly left: number; readonly right: number }
  | { readonly kind: "words"; readonly prefix: string; readonly tidies: boolean };
