// The provenance of a file's numbers: parts written by the server, and the edits in words.

import type { EditContext } from "./edit_words.ts";
import { describeEdit, wordText } from "./edit_words.ts";

export function editsInWords(state: EditContext, edits: readonly string[]) {
  return edits.map((edit) => wordText(describeEdit(state, edit)));
}

/** The line under a picture; the last of `parts` is the program and the date. */
export function provenanceLine(parts: readonly string[], changes: readonly string[]) {
  const changed = changes.length ? [`changed: ${changes.join(", ")}`] : [];
  return [...parts.slice(0, -1), ...changed, ...parts.slice(-1)].join(" · ");
}
