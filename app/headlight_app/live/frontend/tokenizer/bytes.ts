// Bytes in texts: GPT-2's alphabet, which writes each byte as one printable character, and bytes of incomplete
// characters, each kept in a string as the lone surrogate U+DC80 to U+DCFF, as by Python's "surrogateescape".

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
const isPrintable = (byte: number) =>
  (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);

/** The character of each byte: printable Latin-1 represents itself, the others are numbered from U+0100. */
const CHARACTERS = ((shifted: number) =>
  Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : 256 + shifted++)))(0);
const BYTES = new Map(CHARACTERS.map((character, byte) => [character, byte]));

export const SPACE = CHARACTERS[32];
export const LONE_BYTE = /[\udc80-\udcff]/u;

/** The bytes of a character in GPT-2's alphabet. */
export function alphabetOf(character: string): string[] {
  return Array.from(ENCODER.encode(character), (byte) => CHARACTERS[byte]);
}

/** The bytes that a token in GPT-2's alphabet stands for; null for another token. */
export function bytesOf(token: string): number[] | null {
  const bytes = Array.from(token, (character) => BYTES.get(character));
  return bytes.every((byte) => byte !== undefined) ? bytes : null;
}

/** The bytes of a text, in which lone surrogates are bytes. */
export function toBytes(text: string): number[] {
  return Array.from(text).flatMap((character) =>
    LONE_BYTE.test(character) ? [character.charCodeAt(0) - 0xdc00] : [...ENCODER.encode(character)],
  );
}

/** The text of bytes; those of no complete character become lone surrogates. */
export function fromBytes(bytes: readonly number[]): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at];
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const character = strictText(bytes.slice(at, at + length));
    text += character ?? String.fromCharCode(0xdc00 + lead);
    at += character === null ? 1 : length;
  }
  return text;
}

/** The text of bytes in UTF-8; null if they are none. */
export function strictText(bytes: readonly number[]): string | null {
  try {
    return STRICT.decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

/** The text of bytes; those of no complete character become U+FFFD. */
export function lossyText(bytes: readonly number[]): string {
  return DECODER.decode(Uint8Array.from(bytes));
}

/** The byte that a token such as <0x0A> stands for; null for another token. */
export function fallbackByte(token: string): number | null {
  const match = /^<0x([0-9A-Fa-f]{2})>$/.exec(token);
  return match && Number.parseInt(match[1], 16);
}

/** The tokens such as <0x0A> for the bytes of a text. */
export function fallbackTokens(text: string): string[] {
  return Array.from(ENCODER.encode(text), (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
}
