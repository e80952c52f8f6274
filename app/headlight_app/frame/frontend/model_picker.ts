// The sidebar's list of models: a group for each kind, and each model's purpose with its name in small type.

import { defineComponent } from "../../ui/frontend/bridge.ts";
import { createElement } from "../../ui/frontend/dom/dom.ts";
import { findByTestId } from "../../ui/frontend/dom/elements.ts";
import { listenToLeaving } from "../../ui/frontend/leaving.ts";
import { createModelGroup } from "../../ui/frontend/model_options.ts";
import type { ModelPickerData } from "./types.ts";

class ModelPicker {
  end;

  #select;
  #turn = 0;
  #heardTurn = 0;
  #drawn = "";
  #waiting: (() => void)[] = [];
  /** Always false: choices are reported at once. */
  isPending = false;

  constructor(place: HTMLElement) {
    this.#select = findByTestId(place, "model-picker", HTMLSelectElement);
    this.end = listenToLeaving(place, this); // links name the previous model until Streamlit has received the choice
  }

  get isHeard() {
    return this.#heardTurn === this.#turn;
  }

  flush() {}

  /** Resolves once Streamlit has received the chosen model. */
  heard(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  update({ groups, chosen, turn }: ModelPickerData, tell: (name: string, value: unknown) => void) {
    const select = this.#select;
    this.#turn = Math.max(this.#turn, turn);
    this.#heardTurn = turn;
    if (this.isHeard) for (const resolve of this.#waiting.splice(0)) resolve();
    const drawn = JSON.stringify(groups);
    // An open list stays open.
    const face = createElement("button", "", [document.createElement("selectedcontent")]); // for browsers that can style a select
    if (this.#drawn !== drawn) select.replaceChildren(face, ...groups.map(createModelGroup));
    this.#drawn = drawn;
    if (turn === this.#turn) select.value = chosen; // otherwise a newer choice is pending
    select.onchange = () => tell("settled", { model: select.value, turn: ++this.#turn });
    select.disabled = false;
  }
}

export default defineComponent((place) => new ModelPicker(place));
