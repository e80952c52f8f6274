// The sidebar's list of models: a group for each kind, and each model's purpose with its name in small type.

import { defineComponent } from "../../ui/frontend/bridge.js";
import { createElement } from "../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { listenToLeaving } from "../../ui/frontend/leaving.js";
import { createModelGroup } from "../../ui/frontend/model_options.js";

/** @import { ModelPickerData } from "./types.d.ts" */

class ModelPicker {
  #select;
  #turn = 0;
  #heardTurn = 0;
  #drawn = "";
  /** @type {(() => void)[]} */
  #waiting = [];
  /** Always false: choices are reported at once. */
  isPending = false;

  /** @param {HTMLElement} place */
  constructor(place) {
    this.#select = findByTestId(place, "model-picker", HTMLSelectElement);
    this.end = listenToLeaving(place, this); // links name the previous model until Streamlit has received the choice
  }

  get isHeard() {
    return this.#heardTurn === this.#turn;
  }

  flush() {}

  /** Resolves once Streamlit has received the chosen model. @returns {Promise<void>} */
  heard() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** @param {ModelPickerData} data @param {(name: string, value: unknown) => void} tell */
  update({ groups, chosen, turn }, tell) {
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
