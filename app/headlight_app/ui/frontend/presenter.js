// Presenter mode on a page of ours: a class, which the style sheet and `--type` follow.

import { fitHeights } from "./text_box.js";

/**
 * Switches it. Boxes are as high as their text, which is of another size now.
 * @param {HTMLElement} root @param {boolean} presenter @param {Iterable<HTMLTextAreaElement>} boxes
 */
export function togglePresenter(root, presenter, boxes) {
  if (root.classList.contains("presenter") === presenter) return;
  root.classList.toggle("presenter", presenter);
  fitHeights(boxes);
}
