// The key p, which switches presenter mode, and the button that leaves it, on every page. Explore switches at once and
// reports it itself.

import { chooseElsewhere, defineComponent } from "../../ui/frontend/bridge.ts";
import { listenTo } from "../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../ui/frontend/dom/elements.ts";
import { isShortcut } from "../../ui/frontend/shortcut.ts";

class PresenterMode {
  end;

  #leave;
  #turn = 0;
  #tell: (name: string, value: unknown) => void = () => {};

  constructor(place: HTMLElement) {
    this.#leave = findByTestId(place, "leave-presenter");
    this.#leave.onclick = () => this.#switch();
    this.end = listenTo(document, { keydown: this.#pressed });
    this.#leave.ariaKeyShortcuts = "p"; // now that it works
  }

  update({ presenter }: { presenter: boolean }, tell: (name: string, value: unknown) => void) {
    this.#tell = tell;
    this.#leave.hidden = !presenter;
  }

  #switch() {
    const presenter = this.#leave.hidden ? "1" : "";
    this.#leave.hidden = !presenter;
    if (chooseElsewhere({ presenter }) === null) this.#tell("settled", { presenter, turn: ++this.#turn });
  }

  #pressed = (event: KeyboardEvent) => {
    if (!isShortcut(event, "p")) return;
    event.preventDefault();
    this.#switch();
  };
}

export default defineComponent((place) => new PresenterMode(place));
