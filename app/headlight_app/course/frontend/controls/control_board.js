// The controls of a screen. Their values are texts, as in the address and in requests.

import { fillSelect, setValue } from "../../../ui/frontend/charts/charts.js";
import { createButton, createElement, optionsOf } from "../../../ui/frontend/dom/dom.js";
import { isInvalid, lastPart } from "../inputs.js";
import { createTitle, MatrixTable, resizedAxes, resizedTogether } from "./matrix_table.js";
import { createRecording } from "./recording.js";

/** @import { Inputs } from "../inputs.js" */
/** @import { Axis, Control, CourseModel, MatrixControl, RangeControl, TextControl } from "../types.js" */
/** @typedef {{ element: HTMLElement, draw: (text: string) => void }} Drawn a control on the page */
/** @typedef {(text: string) => void} Change */

export class ControlBoard {
  element = createElement("div", "controls");
  #controls;
  /** @type {Map<string, Drawn>} */
  #drawn = new Map();
  #change;
  #api;
  /** @type {Record<string, string>} */
  #texts = {};

  /**
   * @param {Control[]} controls @param {CourseModel[]} models @param {string} api for uploads
   * @param {(patch: Inputs) => void} change
   */
  constructor(controls, models, api, change) {
    this.#controls = controls;
    this.#api = api;
    this.#change = change;
    for (const control of controls) this.#drawn.set(control.name, this.#create(control, models));
    const [tables, others] = [controls.filter(isMatrix), controls.filter((control) => !isMatrix(control))];
    for (const group of [tables, others]) {
      if (!group.length) continue;
      const drawn = group.map(({ name }) => /** @type {Drawn} */ (this.#drawn.get(name)).element);
      this.element.append(createElement("div", group === tables ? "tables" : "settings", drawn));
    }
    if (controls.length) this.element.append(this.#reset);
  }

  /** Shows the text of each control. @param {Record<string, string>} texts */
  draw(texts) {
    this.#texts = texts;
    for (const [name, control] of this.#drawn) control.draw(texts[name]);
    for (const { name, when } of this.#controls) {
      const [other, values] = when.split("=");
      const { element } = /** @type {Drawn} */ (this.#drawn.get(name));
      element.hidden = when !== "" && !values.split(",").includes(texts[other]);
    }
    this.#reset.hidden = this.#controls.every(({ name, default: begins }) => texts[name] === begins);
  }

  #reset = createButton("small reset", "Back to the start values", "reset", () =>
    this.#change(Object.fromEntries(this.#controls.map((control) => [control.name, control.default]))),
  );

  /** @param {Control} control @param {CourseModel[]} models @returns {Drawn} */
  #create(control, models) {
    const change = (/** @type {string} */ text) => this.#change({ [control.name]: text });
    if (isMatrix(control)) {
      const matrices = this.#controls.filter(isMatrix);
      const resize = (/** @type {Axis} */ axis, /** @type {number} */ by) =>
        this.#change(resizedTogether(matrices, this.#texts, axis, by));
      return new MatrixTable(control, change, resizedAxes(matrices).get(control.name) ?? [], resize);
    }
    const most = () => lastPart(control, models, this.#texts.model);
    if (isNumber(control)) return createNumber(control, change, most);
    if (control.kind === "text") return createText(control, change);
    if (control.kind === "recording") return createRecording(control, this.#api, change);
    if (control.kind === "choice") return createSelect(control, Object.entries(control.options), change);
    return createSelect(control, optionsOf(models.filter(({ suits }) => suits.includes(control.needs))), change);
  }
}

/** @param {Control} control @returns {control is MatrixControl} */
function isMatrix(control) {
  return control.kind === "matrix";
}

/** @param {Control} control @returns {control is RangeControl} */
function isNumber(control) {
  return control.kind === "number" || control.kind === "seed" || control.kind === "part";
}

/** @param {Control} control @param {HTMLElement[]} fields */
function labelled(control, ...fields) {
  return createElement("label", `control ${control.kind}`, [createTitle(control.title), ...fields]);
}

/**
 * @param {RangeControl} control @param {Change} change @param {() => number | null} most the largest
 * value, if it depends on the model @returns {Drawn}
 */
function createNumber(control, change, most) {
  const { title, low, high, step } = control;
  const range = { type: "range", min: String(low), max: String(high), step: String(step) };
  const slider = createElement("input", "", [], { ...range, ariaLabel: `${title}, slider` });
  const named = { testid: `input-${control.name}`, ariaLabel: title };
  const field = createElement("input", "figure", [], { ...named, type: "text", inputMode: "decimal" });
  slider.oninput = () => change(slider.value);
  field.oninput = () => change(field.value);
  const parts = control.kind === "seed" ? [field, againButton(control, field, change)] : [slider, field];
  const kind = control.kind === "part" ? "number" : control.kind;
  return {
    element: createElement("div", `control ${kind}`, [createTitle(title), ...parts]),
    draw: (text) => {
      slider.max = String(most() ?? control.high);
      setValue(slider, text);
      setValue(field, text);
      field.ariaInvalid = String(isInvalid(text, control));
    },
  };
}

/** A button for another seed. @param {RangeControl} control @param {HTMLInputElement} field @param {Change} change */
function againButton(control, field, change) {
  const next = () => String(((Number(field.value) || 0) + 1) % (control.high + 1));
  return createButton("small", "Draw again", `again-${control.name}`, () => change(next()));
}

/** @param {TextControl} control @param {Change} change @returns {Drawn} */
function createText(control, change) {
  const field = control.lines > 1 ? createElement("textarea") : createElement("input");
  if (field instanceof HTMLTextAreaElement) field.rows = control.lines;
  else field.type = "text";
  field.dataset.testid = `input-${control.name}`;
  field.oninput = () => change(field.value);
  const element = labelled(control, field);
  element.style.setProperty("--letters", String(control.title.length + control.default.length));
  return {
    element,
    draw: (text) => {
      if (field.value !== text) field.value = text;
    },
  };
}

/** @param {Control} control @param {[string, string][]} options @param {Change} change @returns {Drawn} */
function createSelect(control, options, change) {
  const select = createElement("select", "", [], { testid: `input-${control.name}` });
  return { element: labelled(control, select), draw: (text) => fillSelect(select, options, text, change) };
}
