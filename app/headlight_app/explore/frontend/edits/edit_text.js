// Edits in text form, PATH[INDEX]=OPERATION:NUMBER, and lists of them.

/** @import { EditLists } from "./edit_history.js" */

/** @param {string} path @param {(string | number | undefined)[]} picked @param {string} operation */
export function editText(path, picked, operation) {
  const last = picked.findLastIndex((part) => part !== "" && part !== undefined);
  const index = picked.slice(0, last + 1).map((part) => (part === "" || part === undefined ? ":" : part));
  return `${path}${index.length ? `[${index.join(",")}]` : ""}=${operation}`;
}

/** Whether an edit takes a value from the run of another text. @param {string} edit */
export function isPatch(edit) {
  return edit.includes("=from:");
}

/** One edit per line; disabled edits start with #. @param {string} text @returns {EditLists} */
export function parseEditList(text) {
  const lines = [
    ...new Set(
      text
        .split(/[\n;]/)
        .map((line) => line.trim())
        .filter(Boolean),
    ),
  ];
  const disabled = lines.filter((line) => line.startsWith("#")).map((line) => line.slice(1).trim());
  return { edits: lines.filter((line) => !line.startsWith("#")), disabled_edits: disabled.filter(Boolean) };
}

/** @param {EditLists} options */
export function formatEditList({ edits, disabled_edits }) {
  return [...edits, ...disabled_edits.map((edit) => `# ${edit}`)].join("\n");
}
