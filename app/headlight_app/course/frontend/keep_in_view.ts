// Keeps a requested screen at the top of the window while the screens above it grow with their answers.

import { listenTo } from "../../ui/frontend/dom/dom.ts";

const TAKES_OVER = ["wheel", "touchmove", "pointerdown", "keydown"]; // these events end it: the learner scrolls

/**
 * Scrolls to an element, and again whenever its container changes its height.
 * @param list its container @returns ends it
 */
export function keepInView(element: HTMLElement, list: HTMLElement): () => void {
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
