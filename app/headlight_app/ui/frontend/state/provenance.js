// The provenance of a file's numbers: parts written by the server, and the edits in words.

import { describeEdit, wordText } from "./edit_words.js";

/** @import { EditContext } from "./edit_words.js" */

/** @param {EditContext} state @param {readonly string[]} edits */
export function editsInWords(state, edits) {
  return edits.map((edit) => wordText(describeEdit(state, edit)));
}

/**
 * The line under a picture; the last of `parts` is the program and the date.
 * @param {readonly string[]} parts @param {readonly string[]} changes
 */
export function provenanceLine(parts, changes) {
  const changed = changes.length ? [`changed: ${changes.join(", ")}`] : [];
  return [...parts.slice(0, -1), ...changed, ...parts.slice(-1)].join(" · ");
}
