// The sheet of keys and gestures; outside text boxes, the key ? opens it.

import { defineComponent } from "../../ui/frontend/bridge.js";
import { listenTo } from "../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { isShortcut } from "../../ui/frontend/shortcut.js";

export default defineComponent((place) => ({ update: () => {}, end: listen(place) }));

/** @param {HTMLElement} place @returns {() => void} ends it */
function listen(place) {
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
    keydown: (/** @type {KeyboardEvent} */ event) => {
      if (!isShortcut(event, "?")) return;
      event.preventDefault();
      open();
    },
  });
}
