// Simple and full mode: how much the page shows. The browser stores the choice; the page's first script applies it.

import { drawChoices } from "../../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../../ui/frontend/dom/elements.js";

/** @import { ExplorePage } from "../types.js" */

const [KEY, CLASS] = ["headlight-mode", "headlight-simple"];

/** @param {ExplorePage} page */
export function drawMode(page) {
  const { classList } = document.documentElement;
  const options = /** @type {[string, string][]} */ ([
    ["simple", "Simple"],
    ["full", "Full"],
  ]);
  const place = findByTestId(page.view.elements.root, "mode");
  drawChoices(place, "mode", options, classList.contains(CLASS) ? "simple" : "full", (mode) => {
    classList.toggle(CLASS, mode === "simple");
    try {
      localStorage.setItem(KEY, mode);
    } catch {} // without storage, the mode lasts until the page is closed
    drawMode(page);
  });
}
