// The sidebar's list of models, by what they do: a group for each kind, and in small the name of each model.

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
  /** A choice is reported at once. */
  isPending = false;

  /** @param {HTMLElement} place */
  constructor(place) {
    this.#select = findByTestId(place, "model-picker", HTMLSelectElement);
    this.end = listenToLeaving(place, this); // links name the earlier model until Streamlit has heard
  }

  get isHeard() {
    return this.#heardTurn === this.#turn;
  }

  flush() {}

  /** Resolves once Streamlit has heard which model was chosen. @returns {Promise<void>} */
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
    const face = createElement("button", "", [document.createElement("selectedcontent")]); // where a list can be styled
    if (this.#drawn !== drawn) select.replaceChildren(face, ...groups.map(createModelGroup));
    this.#drawn = drawn;
    if (turn === this.#turn) select.value = chosen; // else there was a newer choice
    select.onchange = () => tell("settled", { model: select.value, turn: ++this.#turn });
    select.disabled = false;
  }
}

export default defineComponent((place) => new ModelPicker(place));
