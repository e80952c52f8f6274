// Words of sentences, as Python writes them.

import { Refused } from "../engine/refused.ts";
import { quoted } from "../quoted.ts";

/** The row of a table; refuses an unknown name by a sentence with the known ones. */
export function known<Row>(rows: Readonly<Record<string, Row>>, kind: string, name: string): Row {
  if (Object.hasOwn(rows, name)) return rows[name];
  throw new Refused(`There is no ${kind} ${quoted(name)}. Known: ${Object.keys(rows).sort().join(", ")}.`);
}
