// The tokenizer's interface.

/** A token as the page shows it; `end` is where it ends in the text, in UTF-16 code units: 0 for an added token. */
export interface EncodedToken {
  readonly id: number;
  readonly text: string;
  readonly special: boolean;
  readonly end: number;
}

export interface Tokenizer {
  encode(text: string): EncodedToken[];
  decode(ids: readonly number[]): string;
  tokenText(id: number): string;
  readonly vocabularySize: number;
  readonly maskId: number | null;
  readonly endId: number | null;
}
