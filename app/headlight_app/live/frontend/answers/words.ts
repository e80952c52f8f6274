// Words of sentences, as Python writes them.

import { Refused } from "../engine/refused.ts";

/** A text in quotation marks, as Python's repr. */
export function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replaceAll("\t", "\\t")
    .replaceAll("\r", "\\r")
    .replaceAll(mark, `\\${mark}`);
  return `${mark}${escaped}${mark}`;
}

/** The row of a table; refuses an unknown name by a sentence with the known ones. */
export function known<Row>(rows: Readonly<Record<string, Row>>, kind: string, name: string): Row {
  if (Object.hasOwn(rows, name)) return rows[name];
  throw new Refused(`There is no ${kind} ${quoted(name)}. Known: ${Object.keys(rows).sort().join(", ")}.`);
}
