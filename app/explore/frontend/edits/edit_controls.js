// Controls that make changes: of heads, of who sees whom, of where a token stands, of any value. The panel of changes
// shows all of them, the menus of a head, a cell and a token those that belong there. Each is { element, update() }.

import { headCodes } from "../../../../model/rendering/static/state/head_matrix.js";
import { currentGrid, isOff, layerHeads, selectedHeads, toggleHeads } from "../../../../model/rendering/static/state/head_selection.js";
import { createElement } from "../../../../model/rendering/static/ui/dom.js";
import { drawEdits, replaceEdit } from "./edit_list.js";
import { formatFigure } from "./edit_text.js";

const SCOPES = Object.freeze({
  head: { title: (self) => (selectedHeads(self).length > 1 ? `the ${selectedHeads(self).length} heads` : `layer ${self.choice.layer}, head ${self.choice.head}`) },
  layer: { title: (self) => `all of layer ${self.choice.layer}` },
  model: { title: () => "every layer" },
});

/** What a change is meant for: the path of an attention, and a head of it or nothing for all. */
export function editTargets(self) {
  const { stack, kind } = currentGrid(self);
  const path = (layer) => `${stack}.${layer}.${kind}`;
  if (self.scope === "model") return [{ path: path("*"), head: "" }];
  if (self.scope === "layer") return [{ path: path(self.choice.layer), head: "" }];
  return selectedHeads(self).map(([layer, head]) => ({ path: path(layer), head: String(head) }));
}

function headsInScope(self) {
  const grid = currentGrid(self);
  if (self.scope === "head") return selectedHeads(self);
  if (self.scope === "layer") return layerHeads(grid, self.choice.layer);
  return Array.from({ length: grid.layers }, (_, layer) => layerHeads(grid, layer)).flat();
}

export function editText(path, picked, operation) {
  const last = picked.findLastIndex((part) => part !== "" && part !== undefined);
  const index = picked.slice(0, last + 1).map((part) => (part === "" || part === undefined ? ":" : part));
  return `${path}${index.length ? `[${index.join(",")}]` : ""}=${operation}`;
}

/** What stands before the "=": edits of the same values. */
function editSubject(edit) {
  return edit.slice(0, edit.indexOf("="));
}

/** Makes all of some edits in place of others of the same values, or takes all back where all are there already. */
export function toggleEdits(self, wanted) {
  const { edits } = self.choice;
  const there = wanted.every((edit) => edits.includes(edit));
  const subjects = wanted.map(editSubject);
  const others = edits.filter((edit) => !subjects.includes(editSubject(edit)));
  self.change({ edits: there ? others : [...others, ...wanted] });
}

export function hasEdits(self, wanted) {
  return wanted.length > 0 && wanted.every((edit) => self.choice.edits.includes(edit));
}

export function createButton(title, testid, about, press) {
  const button = createElement("button", "press", title);
  button.type = "button";
  button.dataset.testid = testid;
  button.title = about;
  button.onclick = press;
  return button;
}

export function labelledRow(name, ...children) {
  const element = createElement("div", "line");
  const controls = createElement("div", "");
  controls.append(...children);
  element.append(createElement("span", "quiet", name), controls);
  return element;
}

/** For which heads the next controls are meant. */
export function scopeControl(self) {
  const group = createElement("div", "choices");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Which heads");
  const buttons = Object.keys(SCOPES).map((name) => {
    const button = createButton("", `scope-${name}`, "", () => {
      self.scope = name;
      drawEdits(self);
    });
    group.append(button);
    return [name, button];
  });
  const update = () => {
    for (const [name, button] of buttons) {
      button.textContent = SCOPES[name].title(self);
      button.setAttribute("aria-pressed", String(self.scope === name));
    }
  };
  return { element: labelledRow("In", group), update };
}

/** Off, evenly spread, hotter or colder, without the scale. */
export function headControl(self) {
  const edits = (site, operation) => editTargets(self).map(({ path, head }) => editText(`${path}.${site}`, [head], operation));
  const off = createButton("Off", "make-off", "These heads move nothing", () => toggleHeads(self, headsInScope(self)));
  const even = createButton("Even", "make-even", "Every allowed token gets the same weight", () => toggleEdits(self, edits("weights", "uniform")));
  const plain = createButton("No 1/√d", "make-unscaled", "Scores are not divided by the root of d", () => toggleEdits(self, edits("scale", "set:1")));
  const heat = temperatureControl(self, () => editTargets(self).map(({ path, head }) => editText(`${path}.scores`, [head], "")));
  const update = () => {
    off.setAttribute("aria-pressed", String(headsInScope(self).every((one) => isOff(self, currentGrid(self), ...one))));
    even.setAttribute("aria-pressed", String(hasEdits(self, edits("weights", "uniform"))));
    plain.setAttribute("aria-pressed", String(hasEdits(self, edits("scale", "set:1"))));
    heat.update();
  };
  return { element: labelledRow("Heads", off, even, plain, heat.element), update };
}

/** The temperature of the softmax, on a scale of octaves: scores divided by it. `starts` are edits without an operation. */
function temperatureControl(self, starts) {
  const slider = createElement("input", "heat");
  Object.assign(slider, { type: "range", min: -3, max: 3, step: 0.25 });
  slider.dataset.testid = "make-heat";
  slider.setAttribute("aria-label", "Temperature of the softmax");
  const told = createElement("output", "");
  const mine = (edit) => starts().some((start) => edit.startsWith(`${start}scale:`));
  slider.oninput = () => {
    const made = Number(slider.value) ? starts().map((start) => `${start}scale:${Number((2 ** -slider.value).toPrecision(4))}`) : [];
    self.history.stroke ||= "begins";
    self.change({ edits: [...self.choice.edits.filter((edit) => !mine(edit)), ...made] });
  };
  slider.onchange = () => (self.history.stroke = "");
  const update = () => {
    const found = self.choice.edits.find(mine);
    const heat = found ? 1 / Number(found.split("scale:")[1]) : 1;
    slider.value = Math.log2(heat > 0 ? heat : 1);
    slider.disabled = ["hard", "linear"].includes(self.choice.kernel);
    told.textContent = slider.disabled ? "the softmax has one" : `× ${formatFigure(heat)}`;
    slider.setAttribute("aria-valuetext", told.textContent);
  };
  const label = createElement("label", "heat");
  label.append("temperature ", slider, told);
  return { element: label, update };
}

/** Whether a query sees a key: in the mask, or by weight. `pair` says which two tokens are meant. */
export function visibilityControl(self, pair) {
  const edits = (site, operation) => editTargets(self).map(({ path, head }) => editText(`${path}.${site}`, [head, ...pair()], operation));
  const hide = createButton("", "make-hidden", "", () => toggleEdits(self, edits("mask", isClosed() ? "set:1" : "set:0")));
  const none = createButton("Weight 0", "make-weightless", "The other weights of the row stay as they are", () => toggleEdits(self, edits("weights", "set:0")));
  /** Whether something else than a change of this very cell forbids it. */
  const isClosed = () => hasEdits(self, edits("mask", "set:1")) || (!hasEdits(self, edits("mask", "set:0")) && !isAllowed(self, ...pair()));
  const update = () => {
    const closed = isClosed();
    const made = hasEdits(self, edits("mask", closed ? "set:1" : "set:0"));
    hide.textContent = closed ? "Let it see" : "Hide";
    hide.title = closed ? "The mask forbids this cell; allow it" : "The mask forbids this cell; the row's other tokens share its weight";
    hide.setAttribute("aria-pressed", String(made));
    none.setAttribute("aria-pressed", String(hasEdits(self, edits("weights", "set:0"))));
    none.disabled = closed && !made;
  };
  return { elements: [hide, none], update };
}

/** Whether the mask lets any head in scope see a cell, read from the pictures on the screen. */
function isAllowed(self, query, key) {
  const grid = currentGrid(self);
  const [rows, columns] = grid.cells;
  const row = Math.min(Math.floor((query * rows) / grid.rows), rows - 1);
  const column = Math.min(Math.floor((key * columns) / grid.columns), columns - 1);
  return headsInScope(self).some(([layer, head]) => headCodes(self, grid, layer, head)[row * columns + column] !== 0);
}

/** Where a token stands for the position scheme. */
export function positionControl(self, which, place) {
  const stack = () => (which() === "source" ? "encoder" : self.answer.grids[0].stack);
  const start = () => `${stack()}.at[${place()}]=`;
  const box = createElement("input", "stand");
  Object.assign(box, { type: "number", step: 1 });
  box.dataset.testid = "make-stand";
  box.setAttribute("aria-label", "Position of the token");
  const mine = (edit) => edit.startsWith(start());
  box.oninput = () => {
    if (box.value === "" || !Number.isFinite(Number(box.value))) return;
    replaceEdit(self, mine, Number(box.value) === place() ? null : `${start()}set:${Number(box.value)}`);
  };
  const update = () => {
    const found = self.choice.edits.find((edit) => edit.startsWith(`${start()}set:`));
    const stands = found ? found.split("set:")[1] : String(place());
    if (box.getRootNode().activeElement !== box) box.value = stands;
  };
  return { elements: [createElement("span", "", "stands at position"), box], update };
}
