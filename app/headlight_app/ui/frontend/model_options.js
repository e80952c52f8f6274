// A list of models by purpose: a group for each kind; each option is the purpose, followed by the name in small type.

import { createElement } from "./dom/dom.js";

/**
 * A model in a list: its purpose, its display name, and whether it can be chosen.
 * @typedef {{ name: string, title: string, purpose: string, enabled: boolean }} PickedModel
 */
/** @typedef {{ kind: string, models: PickedModel[] }} ModelGroup models of the same kind */

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
