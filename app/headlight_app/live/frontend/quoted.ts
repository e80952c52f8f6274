// Quotation marks as Python writes them, in the sentences of the tokenizer and of the answers.

const NAMED = new Map([
  ["\\", "\\\\"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);
const UNPRINTABLE = /[\p{C}\p{Z}]/u;

/** A text in quotation marks, as Python's repr. */
export function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const signs = Array.from(text, (sign) => {
    if (sign === mark) return `\\${sign}`;
    return NAMED.get(sign) ?? (UNPRINTABLE.test(sign) && sign !== " " ? numbered(sign) : sign);
  });
  return `${mark}${signs.join("")}${mark}`;
}

/** A character by its number: \x7f, \u200b, \U000e0001. */
function numbered(character: string): string {
  const code = character.codePointAt(0) as number;
  const letter = code < 0x100 ? "x" : code < 0x10000 ? "u" : "U";
  return `\\${letter}${code.toString(16).padStart({ x: 2, u: 4, U: 8 }[letter], "0")}`;
}
