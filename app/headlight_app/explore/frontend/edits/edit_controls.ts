// Controls for edits: of heads, visibility, token positions and any value. The panel of changes shows all of them, the
// menus of a head, a cell and a token only the matching ones. Each is { element, update() }.

import { activeElement, createElement } from "../../../ui/frontend/dom/dom.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { table } from "../../../ui/frontend/dom/table.ts";
import { formatFigure } from "../../../ui/frontend/state/edit_words.ts";
import { isOff } from "../../../ui/frontend/state/head_ablation.ts";
import { headCodes } from "../../../ui/frontend/state/head_matrix.ts";
import { currentGroup, layerHeads, selectedHeads, toggleHeads } from "../../../ui/frontend/state/head_selection.ts";
import type { Control, ControlElements, EditTarget, ExplorePage, Head, Side } from "../types.ts";
import { hasEdits, replaceEdit, toggleEdits } from "./edit_actions.ts";
import { editText } from "./edit_text.ts";

const SCOPES: Readonly<Record<string, (page: ExplorePage) => string>> = table({
  head: (page) => {
    const { layer, head, heads } = page.state.choice;
    return heads.length > 1 ? `the ${heads.length} heads` : `layer ${layer}, head ${head}`;
  },
  layer: (page) => `all of layer ${page.state.choice.layer}`,
  model: () => "every layer",
});

const memory = remembered(() => ({ scope: "head" }));

/** The targets of an edit: the path of an attention, and a head of it or "" for all. */
export function editTargets(page: ExplorePage): EditTarget[] {
  const { stack, kind } = currentGroup(page);
  const path = (layer: number | string) => `${stack}.${layer}.${kind}`;
  if (memory(page).scope === "model") return [{ path: path("*"), head: "" }];
  if (memory(page).scope === "layer") return [{ path: path(page.state.choice.layer), head: "" }];
  return selectedHeads(page).map(([layer, head]) => ({ path: path(layer), head: String(head) }));
}

function headsInScope(page: ExplorePage): Head[] {
  const group = currentGroup(page);
  if (memory(page).scope === "head") return selectedHeads(page);
  if (memory(page).scope === "layer") return layerHeads(group, page.state.choice.layer);
  return Array.from({ length: group.layers }, (_, layer) => layerHeads(group, layer)).flat();
}

export function createButton(title: string, testid: string, about: string, press: (event: MouseEvent) => void) {
  return createElement("button", "press", title, { testid, title: about, onclick: press });
}

export function labelledRow(name: string, ...children: (Node | string)[]) {
  const controls = createElement("div", "", children);
  return createElement("div", "line", [createElement("span", "quiet", name), controls]);
}

/** Chooses the heads that the next controls change. */
export function scopeControl(page: ExplorePage): Control {
  const group = createElement("div", "choices", [], { role: "group", ariaLabel: "Which heads" });
  const buttons = Object.keys(SCOPES).map((name) => {
    const button = createButton("", `scope-${name}`, "", () => {
      memory(page).scope = name;
      page.view.drawEdits();
    });
    group.append(button);
    return { name, button };
  });
  const update = () => {
    for (const { name, button } of buttons) {
      button.textContent = SCOPES[name](page);
      button.ariaPressed = String(memory(page).scope === name);
    }
  };
  return { element: labelledRow("In", group), update };
}

/** Heads off, uniform weights, softmax temperature, no score scale. */
export function headControl(page: ExplorePage): Control {
  const edits = (hookPoint: string, operation: string) =>
    editTargets(page).map(({ path, head }) => editText(`${path}.${hookPoint}`, [head], operation));
  const off = createButton("Off", "make-off", "These heads add nothing", () => toggleHeads(page, headsInScope(page)));
  const even = createButton("Even", "make-even", "Every allowed token gets the same weight", () =>
    toggleEdits(page, edits("weights", "uniform")),
  );
  const plain = createButton("No 1/√d", "make-unscaled", "Scores are not divided by the root of d", () =>
    toggleEdits(page, edits("scale", "set:1")),
  );
  const heat = temperatureControl(page, () =>
    editTargets(page).map(({ path, head }) => editText(`${path}.scores`, [head], "")),
  );
  const update = () => {
    off.ariaPressed = String(
      headsInScope(page).every((one) => isOff(page.state.choice.edits, currentGroup(page), ...one)),
    );
    even.ariaPressed = String(hasEdits(page, edits("weights", "uniform")));
    plain.ariaPressed = String(hasEdits(page, edits("scale", "set:1")));
    heat.update();
  };
  return { element: labelledRow("Heads", off, even, plain, heat.element), update };
}

/**
 * The softmax temperature, by which scores are divided, on a logarithmic scale to base 2. `starts` are edits without an
 * operation.
 */
function temperatureControl(page: ExplorePage, starts: () => string[]): Control {
  const slider = createElement("input", "heat", [], { type: "range", min: "-3", max: "3", step: "0.25" });
  slider.dataset.testid = "make-heat";
  slider.ariaLabel = "Temperature of the softmax";
  const reading = createElement("output", "");
  const mine = (edit: string) => starts().some((start) => edit.startsWith(`${start}scale:`));
  slider.oninput = () => {
    const made = Number(slider.value)
      ? starts().map((start) => `${start}scale:${Number((2 ** -Number(slider.value)).toPrecision(4))}`)
      : [];
    page.state.history.beginStroke();
    page.change({ edits: [...page.state.choice.edits.filter((edit) => !mine(edit)), ...made] });
  };
  slider.onchange = () => page.state.history.endStroke();
  const update = () => {
    const found = page.state.choice.edits.find(mine);
    const heat = found ? 1 / Number(found.split("scale:")[1]) : 1;
    slider.value = String(Math.log2(heat > 0 ? heat : 1));
    const { catalogue, choice } = page.state;
    const attentionFunction = catalogue.attention_functions.find(
      ({ name }) => name === choice.variant.attention_function,
    );
    slider.disabled = attentionFunction?.has_temperature === false;
    reading.textContent = slider.disabled ? "softmax only" : `× ${formatFigure(heat)}`;
    slider.ariaValueText = reading.textContent;
  };
  const label = createElement("label", "heat", ["temperature ", slider, reading]);
  return { element: label, update };
}

/** Whether a query sees a key: by mask, or by weight. `pair` returns the two tokens. */
export function visibilityControl(
  page: ExplorePage,
  pair: () => [number, number],
): ControlElements & { elements: [HTMLElement, HTMLElement] } {
  const edits = (hookPoint: string, operation: string) =>
    editTargets(page).map(({ path, head }) => editText(`${path}.${hookPoint}`, [head, ...pair()], operation));
  const hide = createButton("", "make-hidden", "", () =>
    toggleEdits(page, edits("mask", isClosed() ? "set:1" : "set:0")),
  );
  const none = createButton("Weight 0", "make-weightless", "The other weights of the row stay as they are", () =>
    toggleEdits(page, edits("weights", "set:0")),
  );
  /** Whether the cell is forbidden, other than by an edit of this cell. */
  const isClosed = () =>
    hasEdits(page, edits("mask", "set:1")) || (!hasEdits(page, edits("mask", "set:0")) && !isAllowed(page, ...pair()));
  const update = () => {
    const closed = isClosed();
    const made = hasEdits(page, edits("mask", closed ? "set:1" : "set:0"));
    hide.textContent = closed ? "Let it see" : "Hide";
    hide.title = closed
      ? "Allow this cell, which the mask forbids"
      : "Mask this cell; the row's other tokens share its weight";
    hide.ariaPressed = String(made);
    none.ariaPressed = String(hasEdits(page, edits("weights", "set:0")));
    none.disabled = closed && !made;
  };
  return { elements: [hide, none], update };
}

/** Whether the mask allows a cell for any head in scope, read from the byte codes on the page. */
function isAllowed(page: ExplorePage, query: number, key: number) {
  const group = currentGroup(page);
  const [rows, columns] = group.pooled_shape;
  const row = Math.min(Math.floor((query * rows) / group.rows), rows - 1);
  const column = Math.min(Math.floor((key * columns) / group.columns), columns - 1);
  return headsInScope(page).some(([layer, head]) => headCodes(page, group, layer, head)[row * columns + column] !== 0);
}

/** The position of a token for the positional encoding. */
export function positionControl(page: ExplorePage, which: () => Side, place: () => number): ControlElements {
  const stack = () => (which() === "source" ? "encoder" : page.state.answer.attention_groups[0].stack);
  const start = () => `${stack()}.position_ids[${place()}]=`;
  const box = createElement("input", "stand", [], { type: "number", step: "1", testid: "make-stand" });
  box.ariaLabel = "Position of the token";
  const mine = (edit: string) => edit.startsWith(start());
  box.oninput = () => {
    if (box.value === "" || !Number.isFinite(Number(box.value))) return;
    replaceEdit(page, mine, Number(box.value) === place() ? null : `${start()}set:${Number(box.value)}`);
  };
  const update = () => {
    const found = page.state.choice.edits.find((edit) => edit.startsWith(`${start()}set:`));
    const stands = found ? found.split("set:")[1] : String(place());
    if (activeElement(box) !== box) box.value = stands;
  };
  return { elements: [createElement("span", "", "is at position"), box], update };
}
