// Presenter mode: a class on the page's root, which sets styles and `--type`.

import { fitHeights } from "./text_box.js";

/**
 * Switches it, and fits the boxes to their text, whose font size has changed.
 * @param {HTMLElement} root @param {boolean} presenter @param {Iterable<HTMLTextAreaElement>} boxes
 */
export function togglePresenter(root, presenter, boxes) {
  if (root.classList.contains("presenter") === presenter) return;
  root.classList.toggle("presenter", presenter);
  fitHeights(boxes);
}
