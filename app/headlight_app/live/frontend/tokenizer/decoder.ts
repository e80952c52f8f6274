// From tokens to a text.

import { bytesOf, fallbackByte, lossyText, strictText } from "./bytes.ts";
import type { DecoderStep } from "./types.ts";

/** The text of tokens; without steps they are words, joined by spaces. */
export function decode(tokens: readonly string[], steps: readonly DecoderStep[] | null): string {
  return steps ? steps.reduce(decodeStep, tokens).join("") : tokens.join(" ");
}

function decodeStep(tokens: readonly string[], step: DecoderStep): readonly string[] {
  switch (step.kind) {
    case "bytes": {
      const encoder = new TextEncoder();
      return [lossyText(tokens.flatMap((token) => bytesOf(token) ?? [...encoder.encode(token)]))];
    }
    case "fallback":
      return withBytes(tokens);
    case "fuse":
      return [tokens.join("")];
    case "end":
      return tokens.map((token, at) => token.replaceAll(step.suffix, at === tokens.length - 1 ? "" : " "));
    case "spaces":
      return tokens.map((token, at) => token.replaceAll(step.sign, at > 0 || step.keepsFirst ? " " : ""));
    case "replace":
      return tokens.map((token) => token.replaceAll(new RegExp(step.pattern, "gu"), () => step.content));
    case "strip":
      return tokens.map((token) => stripped(token, step));
    case "words":
      return tokens.map((token, at) => {
        const word = at === 0 ? token : token.startsWith(step.prefix) ? token.slice(step.prefix.length) : ` ${token}`;
        return step.tidies ? tidied(word) : word;
      });
    default:
      throw new Error(`The tokenizer has a step that this page does not know: ${JSON.stringify(step)}.`);
  }
}

/** The tokens, with a row of bytes as its text, or U+FFFD for each byte if it is none. */
function withBytes(tokens: readonly string[]): string[] {
  const found: string[] = [];
  let bytes: number[] = [];
  const flush = () => {
    if (bytes.length > 0) found.push(strictText(bytes) ?? "\ufffd".repeat(bytes.length));
    bytes = [];
  };
  for (const token of tokens) {
    const byte = fallbackByte(token);
    if (byte !== null) bytes.push(byte);
    else {
      flush();
      found.push(token);
    }
  }
  flush();
  return found;
}

function stripped(token: string, { text, left, right }: Extract<DecoderStep, { kind: "strip" }>): string {
  const characters = Array.from(token);
  let [start, end] = [0, characters.length];
  while (start < left && characters[start] === text) start += 1;
  while (characters.length - end < right && end > start && characters[end - 1] === text) end -= 1;
  return characters.slice(start, end).join("");
}

// biome-ignore format: one pair beside the other
const TIDY = [
  [" .", "."], [" ?", "?"], [" !", "!"], [" ,", ","], [" ' ", "'"], [" n't", "n't"], [" 'm", "'m"],
  [" do not", " don't"], [" 's", "'s"], [" 've", "'ve"], [" 're", "'re"],
] as const;

const tidied = (text: string) => TIDY.reduce((made, [from, to]) => made.replaceAll(from, to), text);
