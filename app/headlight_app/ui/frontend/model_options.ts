// A list of models by purpose: a group for each kind; each option is the purpose, followed by the name in small type.

import { createElement } from "./dom/dom.ts";

/** A model in a list: its purpose, its display name, and whether it can be chosen. */
type PickedModel = { name: string; title: string; purpose: string; enabled: boolean };
export type ModelGroup = { kind: string; models: PickedModel[] }; // models of the same kind

export function createModelGroup({ kind, models }: ModelGroup) {
  return createElement("optgroup", "", models.map(createOption), { label: kind });
}

function createOption({ name, title, purpose, enabled }: PickedModel) {
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
