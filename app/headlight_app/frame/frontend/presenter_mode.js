// The key p, and the way out of presenter mode, on every page. Explore switches at once and reports it with all else.

import { chooseElsewhere, defineComponent } from "../../ui/frontend/bridge.js";
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
    document.addEventListener("keydown", this.#pressed);
    this.#leave.ariaKeyShortcuts = "p"; // from now on
  }

  /** @param {{ presenter: boolean }} data @param {(name: string, value: unknown) => void} tell */
  update({ presenter }, tell) {
    this.#tell = tell;
    this.#leave.hidden = !presenter;
  }

  unmount() {
    document.removeEventListener("keydown", this.#pressed);
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

export default defineComponent({
  mount: (place) => new PresenterMode(place),
  update: (page, /** @type {{ presenter: boolean }} */ data, tell) => page.update(data, tell),
  unmount: (page) => page.unmount(),
});
