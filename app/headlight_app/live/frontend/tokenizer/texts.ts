// The texts of single tokens as they are shown, as in model/headlight/text/tokenizer.py.

import { bytesOf, fallbackByte, fromBytes, LONE_BYTE, toBytes } from "./bytes.ts";
import type { DecoderStep } from "./types.ts";

const NO_BREAK_SPACE = "\u00a0";

/** A stretch of characters of the typed text. */
export type Span = readonly [start: number, end: number];

/** The text of one token by one step; effects between tokens are ignored, bytes become lone surrogates. */
export function readToken(token: string, step: DecoderStep): string {
  switch (step.kind) {
    case "bytes": {
      const bytes = bytesOf(token);
      return bytes ? fromBytes(bytes) : token;
    }
    case "fallback": {
      const byte = fallbackByte(token);
      return byte === null ? token : fromBytes([byte]);
    }
    case "words":
      return token.startsWith(step.prefix) ? token.slice(step.prefix.length) : token;
    case "spaces":
      return token.replaceAll(step.sign, " ");
    case "end":
      return token.replaceAll(step.suffix, " ");
    case "replace":
      return step.isText ? token.replaceAll(new RegExp(step.pattern, "gu"), () => step.content) : token;
    default:
      return token;
  }
}

/** The text with its lone bytes in words: "byte E2", " bytes E2 80", "byte 80 + a", with no-break spaces inside. */
export function nameBytes(text: string): string {
  if (!LONE_BYTE.test(text)) return text;
  const rest = text.replace(/^ +/, "");
  const parts = rest.match(/[\udc80-\udcff]+|[^\udc80-\udcff]+/gu) ?? [];
  const named = parts.map((part) => (LONE_BYTE.test(part) ? byteWords(part) : part));
  return " ".repeat(text.length - rest.length) + named.join(`${NO_BREAK_SPACE}+${NO_BREAK_SPACE}`);
}

function byteWords(part: string): string {
  const bytes = toBytes(part).map((byte) => byte.toString(16).toUpperCase().padStart(2, "0"));
  return [`byte${bytes.length > 1 ? "s" : ""}`, ...bytes].join(NO_BREAK_SPACE);
}

/** The texts; a token that has only some bytes of a character is shown as that character with a number. */
export function tokenNames(texts: readonly string[], spans: readonly Span[], characters: readonly string[]): string[] {
  if (!texts.some((text) => LONE_BYTE.test(text))) return [...texts];
  const names = numberParts(texts);
  let [part, previousEnd] = [0, 0];
  spans.forEach(([start, end], at) => {
    part = start < previousEnd ? part + 1 : 1;
    previousEnd = end;
    if (end > start && LONE_BYTE.test(names[at])) names[at] = partName(characters.slice(start, end), part);
  });
  return names.map(nameBytes);
}

/** The texts, with characters whose bytes are spread over several tokens as numbered parts. */
function numberParts(texts: readonly string[]): string[] {
  const bytes = texts.map(toBytes);
  const owners = bytes.flatMap((own, at) => own.map(() => at));
  const names = texts.map(() => "");
  let start = 0;
  for (const character of fromBytes(bytes.flat())) {
    const end = start + toBytes(character).length;
    const tokens = [...new Set(owners.slice(start, end))];
    tokens.forEach((at, number) => {
      names[at] += tokens.length > 1 ? partName([character], number + 1) : character;
    });
    start = end;
  }
  return names;
}

/** Characters with a small number; combining and joining ones are shown on a dotted circle. */
function partName(characters: readonly string[], part: number): string {
  const circle = /[\p{Mn}\p{Me}\p{Cf}]/u.test(characters.at(-1) ?? "") ? "◌" : "";
  const number = Array.from(`${part}`, (digit) => String.fromCharCode(0x2080 + Number(digit)));
  return circle + characters.join("") + number.join("");
}
