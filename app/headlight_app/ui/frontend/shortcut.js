// Keys for the whole page, outside text boxes.

/**
 * Whether a key was pressed without modifiers, outside of text fields.
 * @param {KeyboardEvent} event @param {string} key
 */
export function isShortcut(event, key) {
  if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  const [from] = event.composedPath();
  return !(from instanceof Element && from.closest("input, textarea, select, [contenteditable]"));
}
