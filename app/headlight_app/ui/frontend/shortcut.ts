// Keys for the whole page, outside text boxes.

/** Whether a key was pressed without modifiers, outside of text fields. */
export function isShortcut(event: KeyboardEvent, key: string) {
  if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  const [from] = event.composedPath();
  return !(from instanceof Element && from.closest("input, textarea, select, [contenteditable]"));
}
