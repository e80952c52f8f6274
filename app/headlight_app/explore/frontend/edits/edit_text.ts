// Edits in text form, PATH[INDEX]=OPERATION:NUMBER, and lists of them.

import type { EditLists } from "./edit_history.ts";

export function editText(path: string, picked: (string | number | undefined)[], operation: string) {
  const last = picked.findLastIndex((part) => part !== "" && part !== undefined);
  const index = picked.slice(0, last + 1).map((part) => (part === "" || part === undefined ? ":" : part));
  return `${path}${index.length ? `[${index.join(",")}]` : ""}=${operation}`;
}

/** Whether an edit takes a value from the run of another text. */
export function isPatch(edit: string) {
  return edit.includes("=from:");
}

/** One edit per line; disabled edits start with #. */
export function parseEditList(text: string): EditLists {
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

export function formatEditList({ edits, disabled_edits }: EditLists) {
  return [...edits, ...disabled_edits.map((edit) => `# ${edit}`)].join("\n");
}
