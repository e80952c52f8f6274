// Controls for edits: of heads, visibility, token positions and any value. The panel of changes shows all of them, the
// menus of a head, a cell and a token only the matching ones. Each is { element, update() }.

import { activeElement, createElement } from "../../../ui/frontend/dom/dom.js";
import { remembered } from "../../../ui/frontend/dom/memory.js";
import { table } from "../../../ui/frontend/dom/table.js";
import { formatFigure } from "../../../ui/frontend/state/edit_words.js";
import { isOff } from "../../../ui/frontend/state/head_ablation.js";
import { headCodes } from "../../../ui/frontend/state/head_matrix.js";
import { currentGroup, layerHeads, selectedHeads, toggleHeads } from "../../../ui/frontend/state/head_selection.js";
import { hasEdits, replaceEdit, toggleEdits } from "./edit_actions.js";
import { editText } from "./edit_text.js";

/** @import { Control, ControlElements, EditTarget, ExplorePage, Head, Side } from "../types.js" */

/** @type {Readonly<Record<string, (page: ExplorePage) => string>>} */
const SCOPES = table({
  head: (page) => {
    const { layer, head, heads } = page.state.choice;
    return heads.length > 1 ? `the ${heads.length} heads` : `layer ${layer}, head ${head}`;
  },
  layer: (page) => `all of layer ${page.state.choice.layer}`,
  model: () => "every layer",
});

const memory = remembered(() => ({ scope: "head" }));

/**
 * The targets of an edit: the path of an attention, and a head of it or "" for all.
 * @param {ExplorePage} page @returns {EditTarget[]}
 */
export function editTargets(page) {
  const { stack, kind } = currentGroup(page);
  /** @param {number | string} layer */
  const path = (layer) => `${stack}.${layer}.${kind}`;
  if (memory(page).scope === "model") return [{ path: path("*"), head: "" }];
  if (memory(page).scope === "layer") return [{ path: path(page.state.choice.layer), head: "" }];
  return selectedHeads(page).map(([layer, head]) => ({ path: path(layer), head: String(head) }));
}

/** @param {ExplorePage} page @returns {Head[]} */
function headsInScope(page) {
  const group = currentGroup(page);
  if (memory(page).scope === "head") return selectedHeads(page);
  if (memory(page).scope === "layer") return layerHeads(group, page.state.choice.layer);
  return Array.from({ length: group.layers }, (_, layer) => layerHeads(group, layer)).flat();
}

/** @param {string} title @param {string} testid @param {string} about @param {(event: MouseEvent) => void} press */
export function createButton(title, testid, about, press) {
  return createElement("button", "press", title, { testid, title: about, onclick: press });
}

/** @param {string} name @param {...(Node | string)} children */
export function labelledRow(name, ...children) {
  const controls = createElement("div", "", children);
  return createElement("div", "line", [createElement("span", "quiet", name), controls]);
}

/** Chooses the heads that the next controls change. @param {ExplorePage} page @returns {Control} */
export function scopeControl(page) {
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

/** Heads off, uniform weights, softmax temperature, no score scale. @param {ExplorePage} page @returns {Control} */
export function headControl(page) {
  /** @param {string} hookPoint @param {string} operation */
  const edits = (hookPoint, operation) =>
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
 * @param {ExplorePage} page @param {() => string[]} starts @returns {Control}
 */
function temperatureControl(page, starts) {
  const slider = createElement("input", "heat", [], { type: "range", min: "-3", max: "3", step: "0.25" });
  slider.dataset.testid = "make-heat";
  slider.ariaLabel = "Temperature of the softmax";
  const reading = createElement("output", "");
  /** @param {string} edit */
  const mine = (edit) => starts().some((start) => edit.startsWith(`${start}scale:`));
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

/**
 * Whether a query sees a key: by mask, or by weight. `pair` returns the two tokens.
 * @param {ExplorePage} page @param {() => [number, number]} pair
 * @returns {ControlElements & { elements: [HTMLElement, HTMLElement] }}
 */
export function visibilityControl(page, pair) {
  /** @param {string} hookPoint @param {string} operation */
  const edits = (hookPoint, operation) =>
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

/**
 * Whether the mask allows a cell for any head in scope, read from the byte codes on the page.
 * @param {ExplorePage} page @param {number} query @param {number} key
 */
function isAllowed(page, query, key) {
  const group = currentGroup(page);
  const [rows, columns] = group.pooled_shape;
  const row = Math.min(Math.floor((query * rows) / group.rows), rows - 1);
  const column = Math.min(Math.floor((key * columns) / group.columns), columns - 1);
  return headsInScope(page).some(([layer, head]) => headCodes(page, group, layer, head)[row * columns + column] !== 0);
}

/**
 * The position of a token for the positional encoding.
 * @param {ExplorePage} page @param {() => Side} which @param {() => number} place @returns {ControlElements}
 */
export function positionControl(page, which, place) {
  const stack = () => (which() === "source" ? "encoder" : page.state.answer.attention_groups[0].stack);
  const start = () => `${stack()}.position_ids[${place()}]=`;
  const box = createElement("input", "stand", [], { type: "number", step: "1", testid: "make-stand" });
  box.ariaLabel = "Position of the token";
  /** @param {string} edit */
  const mine = (edit) => edit.startsWith(start());
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
