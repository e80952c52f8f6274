// What the tokenizer of a page without a server makes of texts: JSON lines in, JSON lines out.
//
// The first line is the tokenizer's file. Each line after it is a text, or a list of ids to decode.

import { createInterface } from "node:readline";
import { openTokenizer } from "../../../app/headlight_app/live/frontend/tokenizer/tokenizer.ts";

const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
/** @type {import("../../../app/headlight_app/live/frontend/tokenizer/types.ts").Tokenizer | undefined} */
let tokenizer;
const out = [];
for await (const line of lines) {
  const value = JSON.parse(line);
  try {
    if (!tokenizer) tokenizer = openTokenizer(value);
    else out.push(typeof value === "string" ? tokenizer.encode(value) : tokenizer.decode(value));
  } catch (error) {
    out.push({ error: error instanceof Error ? error.message : `${error}` });
  }
}
process.stdout.write(out.map((value) => `${JSON.stringify(value)}\n`).join(""));
