// Presenter mode: large type and thick lines for a projector, fewer controls. The key p switches it where nobody types.

import { clearLayout } from "../../../model/rendering/static/heads/heads_tab.js";
import { findByTestId } from "../../../model/rendering/static/ui/elements.js";

/** @import { ExplorePage } from "./types.js" */

/** @param {ExplorePage} page @param {ParentNode} place @returns {() => void} ends it */
export function listenToPresenter(page, place) {
  findByTestId(place, "leave-presenter").onclick = () => page.change({ presenter: "" });
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (event.key !== "p" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const [from] = event.composedPath();
    if (from instanceof Element && from.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    page.change({ presenter: page.state.choice.presenter ? "" : "1" });
  };
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}

/** Only the class: what is drawn follows it by `--type`. @param {ExplorePage} page */
export function drawPresenter(page) {
  const { root } = page.view.elements;
  const before = root.className;
  root.classList.toggle("presenter", page.state.choice.presenter === "1");
  root.classList.toggle("embedded", page.state.choice.embedded === "1");
  if (root.className !== before) clearLayout(page); // thumbnails are laid out anew
}
