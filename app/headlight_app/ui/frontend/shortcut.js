// Keys for the whole page, outside text boxes.

/**
 * Whether a key was pressed alone, outside of what takes letters.
 * @param {KeyboardEvent} event @param {string} key
 */
export function isShortcut(event, key) {
  if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  const [from] = event.composedPath();
  return !(from instanceof Element && from.closest("input, textarea, select, [contenteditable]"));
}
