// The sidebar's list of models, by what they do: a group for each kind, and in small the name of each model.

import { defineComponent } from "../../ui/frontend/bridge.js";
import { createElement } from "../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { createModelGroup } from "../../ui/frontend/model_options.js";

/** @import { ModelPickerData } from "./types.d.ts" */

class ModelPicker {
  #select;
  #turn = 0;
  #drawn = "";

  /** @param {HTMLElement} place */
  constructor(place) {
    this.#select = findByTestId(place, "model-picker", HTMLSelectElement);
  }

  /** @param {ModelPickerData} data @param {(name: string, value: unknown) => void} tell */
  update({ groups, chosen, turn }, tell) {
    const select = this.#select;
    this.#turn = Math.max(this.#turn, turn);
    const drawn = JSON.stringify(groups);
    // A list that somebody has open stays open.
    if (this.#drawn !== drawn) select.replaceChildren(createFace(), ...groups.map(createModelGroup));
    this.#drawn = drawn;
    if (turn === this.#turn) select.value = chosen; // else somebody has gone on since
    select.onchange = () => tell("settled", { model: select.value, turn: ++this.#turn });
    select.disabled = false;
  }
}

/** What shows the chosen model where the browser lets a list be styled. */
function createFace() {
  const button = createElement("button");
  button.append(document.createElement("selectedcontent"));
  return button;
}

export default defineComponent({
  mount: (place) => new ModelPicker(place),
  update: (page, /** @type {ModelPickerData} */ data, tell) => page.update(data, tell),
});
