// A screen that was asked for stays at the top of the window while those above it grow with their answers.

import { listenTo } from "../../ui/frontend/dom/dom.js";

const TAKES_OVER = ["wheel", "touchmove", "pointerdown", "keydown"]; // from then on the person scrolls

/**
 * Scrolls to an element, and again whenever what it stands in changes its height.
 * @param {HTMLElement} element @param {HTMLElement} list what it stands in
 * @returns {() => void} ends it
 */
export function keepInView(element, list) {
  const observer = new ResizeObserver(() => element.scrollIntoView());
  const end = () => {
    observer.disconnect();
    endListening();
  };
  const taken = Object.fromEntries(TAKES_OVER.map((name) => [name, end]));
  const endListening = listenTo(document, taken, { capture: true });
  observer.observe(list); // and calls back at once
  return end;
}
