// Presenter mode: a class on the page's root, which sets styles and `--type`.

import { fitHeights } from "./text_box.ts";

/** Switches it, and fits the boxes to their text, whose font size has changed. */
export function togglePresenter(root: HTMLElement, presenter: boolean, boxes: Iterable<HTMLTextAreaElement>) {
  if (root.classList.contains("presenter") === presenter) return;
  root.classList.toggle("presenter", presenter);
  fitHeights(boxes);
}
