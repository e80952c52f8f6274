// The key p, which switches presenter mode, and the button that leaves it, on every page. Explore switches at once and
// reports it itself.

import { chooseElsewhere, defineComponent } from "../../ui/frontend/bridge.js";
import { listenTo } from "../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { isShortcut } from "../../ui/frontend/shortcut.js";

class PresenterMode {
  #leave;
  #turn = 0;
  /** @type {(name: string, value: unknown) => void} */
  #tell = () => {};

  /** @param {HTMLElement} place */
  constructor(place) {
    this.#leave = findByTestId(place, "leave-presenter");
    this.#leave.onclick = () => this.#switch();
    this.end = listenTo(document, { keydown: this.#pressed });
    this.#leave.ariaKeyShortcuts = "p"; // now that it works
  }

  /** @param {{ presenter: boolean }} data @param {(name: string, value: unknown) => void} tell */
  update({ presenter }, tell) {
    this.#tell = tell;
    this.#leave.hidden = !presenter;
  }

  #switch() {
    const presenter = this.#leave.hidden ? "1" : "";
    this.#leave.hidden = !presenter;
    if (chooseElsewhere({ presenter }) === null) this.#tell("settled", { presenter, turn: ++this.#turn });
  }

  #pressed = (/** @type {KeyboardEvent} */ event) => {
    if (!isShortcut(event, "p")) return;
    event.preventDefault();
    this.#switch();
  };
}

export default defineComponent((place) => new PresenterMode(place));
