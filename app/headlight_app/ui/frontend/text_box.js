// The boxes for typing a text.

const TALLEST = 120; // pixels

/** Makes boxes as high as their text, up to a limit. @param {Iterable<HTMLTextAreaElement>} boxes */
export function fitHeights(boxes) {
  for (const box of boxes) {
    box.style.height = "auto";
    if (box.scrollHeight) box.style.height = `${Math.min(box.scrollHeight, TALLEST)}px`;
  }
}

/**
 * Writes a text only if it differs, so that the caret stays.
 * @param {HTMLTextAreaElement} box @param {string} text
 */
export function setText(box, text) {
  if (box.value === text) return;
  const isAllSelected = box.value !== "" && box.selectionStart === 0 && box.selectionEnd === box.value.length;
  box.value = text;
  if (isAllSelected) box.select(); // the next letter replaces it, as it would have replaced the old text
}

/** The text that the ends of tokens refer to: two texts on a line each. @param {string} text @param {string} [pair] */
export const withPair = (text, pair) => (pair ? `${text}\n${pair}` : text);
