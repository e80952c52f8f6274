// A panel that a button opens and closes.

import { listenTo } from "./dom.ts";

/** Escape and a press outside close it too. @param around the area in which a press closes it */
export function createPopover(
  button: HTMLElement,
  panel: HTMLElement,
  opened: () => void = () => {},
  around: EventTarget = document,
) {
  const show = (open: boolean) => {
    panel.hidden = !open;
    button.ariaExpanded = String(open);
    if (open) opened();
  };
  button.onclick = () => show(Boolean(panel.hidden));
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || panel.hidden || event.defaultPrevented) return;
    event.preventDefault(); // the key is used up: it does not leave what is behind the panel
    show(false);
    button.focus();
  };
  for (const part of [button, panel]) part.addEventListener("keydown", pressed);
  const end = listenTo(around, {
    pointerdown: (event) => {
      const inside = event.composedPath().some((part) => part === panel || part === button);
      if (!panel.hidden && !inside) show(false);
    },
  });
  return { show, end };
}
