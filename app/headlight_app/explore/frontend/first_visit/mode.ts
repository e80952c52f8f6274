// Simple and full mode: how much the page shows. The browser stores the choice; the page's first script applies it.

import { drawChoices } from "../../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import type { ExplorePage } from "../types.ts";

const [KEY, CLASS] = ["headlight-mode", "headlight-simple"];

export function drawMode(page: ExplorePage) {
  const { classList } = document.documentElement;
  const options = [
    ["simple", "Simple"],
    ["full", "Full"],
  ] as [string, string][];
  const place = findByTestId(page.view.elements.root, "mode");
  drawChoices(place, "mode", options, classList.contains(CLASS) ? "simple" : "full", (mode) => {
    classList.toggle(CLASS, mode === "simple");
    try {
      localStorage.setItem(KEY, mode);
    } catch {} // without storage, the mode lasts until the page is closed
    drawMode(page);
  });
}
