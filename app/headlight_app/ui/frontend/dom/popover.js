// A panel that a button opens and closes.

import { listenTo } from "./dom.js";

/**
 * Escape and a press outside close it too.
 * @param {HTMLElement} button @param {HTMLElement} panel @param {() => void} [opened]
 * @param {EventTarget} [around] the area in which a press closes it
 */
export function createPopover(button, panel, opened = () => {}, around = document) {
  const show = (/** @type {boolean} */ open) => {
    panel.hidden = !open;
    button.ariaExpanded = String(open);
    if (open) opened();
  };
  button.onclick = () => show(Boolean(panel.hidden));
  panel.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    show(false);
    button.focus();
  });
  const end = listenTo(around, {
    pointerdown: (event) => {
      const inside = event.composedPath().some((part) => part === panel || part === button);
      if (!panel.hidden && !inside) show(false);
    },
  });
  return { show, end };
}
