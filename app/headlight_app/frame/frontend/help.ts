// The sheet of keys and gestures; outside text boxes, the key ? opens it.

import { defineComponent } from "../../ui/frontend/bridge.ts";
import { listenTo } from "../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../ui/frontend/dom/elements.ts";
import { isShortcut } from "../../ui/frontend/shortcut.ts";

export default defineComponent((place) => ({ update: () => {}, end: listen(place) }));

/** @returns ends it */
function listen(place: HTMLElement): () => void {
  const sheet = findByTestId(place, "help-sheet", HTMLDialogElement);
  const open = () => {
    if (!sheet.open) sheet.showModal();
  };
  const button = findByTestId(place, "help-button");
  button.onclick = open;
  sheet.onclick = (event) => {
    if (event.target === sheet) sheet.close(); // a click on the backdrop
  };
  button.hidden = false; // now that it works
  return listenTo(document, {
    keydown: (event: KeyboardEvent) => {
      if (!isShortcut(event, "?")) return;
      event.preventDefault();
      open();
    },
  });
}
