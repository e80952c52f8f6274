// A list of models by what they do: a group for each kind, and behind what a model does, in small, its name.

import { createElement } from "./dom/dom.js";

/**
 * A model in a list: what it does, its name as people read it, and whether it can be chosen.
 * @typedef {{ name: string, title: string, purpose: string, enabled: boolean }} PickedModel
 */
/** @typedef {{ kind: string, models: PickedModel[] }} ModelGroup models that do the same */

/** @param {ModelGroup} group */
export function createModelGroup({ kind, models }) {
  return createElement("optgroup", "", models.map(createOption), { label: kind });
}

/** @param {PickedModel} model */
function createOption({ name, title, purpose, enabled }) {
  const [words, small, dot] = [
    createElement("span", "", purpose),
    createElement("small"),
    createElement("span", "dot"),
  ];
  dot.textContent = " · ";
  small.append(dot, title);
  words.append(small);
  return createElement("option", "", [words], { value: name, disabled: !enabled });
}
