// The controls of a screen. Their values are texts, as in the address and in requests.

import { fillSelect, setValue } from "../../../ui/frontend/charts/charts.ts";
import { createButton, createElement, optionsOf } from "../../../ui/frontend/dom/dom.ts";
import type { Inputs } from "../inputs.ts";
import { isInvalid, lastPart } from "../inputs.ts";
import type { Axis, Control, CourseModel, MatrixControl, RangeControl, TextControl } from "../types.ts";
import { createTitle, MatrixTable, resizedAxes, resizedTogether } from "./matrix_table.ts";
import { createRecording } from "./recording.ts";

type Drawn = { element: HTMLElement; draw: (text: string) => void }; // a control on the page
type Change = (text: string) => void;

export class ControlBoard {
  element = createElement("div", "controls");
  #controls;
  #drawn: Map<string, Drawn> = new Map();
  #change;
  #api;
  #texts: Record<string, string> = {};

  /** @param api for uploads */
  constructor(controls: Control[], models: CourseModel[], api: string, change: (patch: Inputs) => void) {
    this.#controls = controls;
    this.#api = api;
    this.#change = change;
    for (const control of controls) this.#drawn.set(control.name, this.#create(control, models));
    const [tables, others] = [controls.filter(isMatrix), controls.filter((control) => !isMatrix(control))];
    for (const group of [tables, others]) {
      if (!group.length) continue;
      const drawn = group.map(({ name }) => (this.#drawn.get(name) as Drawn).element);
      this.element.append(createElement("div", group === tables ? "tables" : "settings", drawn));
    }
    if (controls.length) this.element.append(this.#reset);
  }

  /** Shows the text of each control. */
  draw(texts: Record<string, string>) {
    this.#texts = texts;
    for (const [name, control] of this.#drawn) control.draw(texts[name]);
    for (const { name, when } of this.#controls) {
      const [other, values] = when.split("=");
      const { element } = this.#drawn.get(name) as Drawn;
      element.hidden = when !== "" && !values.split(",").includes(texts[other]);
    }
    this.#reset.hidden = this.#controls.every(({ name, default: begins }) => texts[name] === begins);
  }

  #reset = createButton("small reset", "Back to the start values", "reset", () =>
    this.#change(Object.fromEntries(this.#controls.map((control) => [control.name, control.default]))),
  );

  #create(control: Control, models: CourseModel[]): Drawn {
    const change = (text: string) => this.#change({ [control.name]: text });
    if (isMatrix(control)) {
      const matrices = this.#controls.filter(isMatrix);
      const resize = (axis: Axis, by: number) => this.#change(resizedTogether(matrices, this.#texts, axis, by));
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

function isMatrix(control: Control): control is MatrixControl {
  return control.kind === "matrix";
}

function isNumber(control: Control): control is RangeControl {
  return control.kind === "number" || control.kind === "seed" || control.kind === "part";
}

function labelled(control: Control, ...fields: HTMLElement[]) {
  return createElement("label", `control ${control.kind}`, [createTitle(control.title), ...fields]);
}

/** @param most the largest value, if it depends on the model */
function createNumber(control: RangeControl, change: Change, most: () => number | null): Drawn {
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

/** A button for another seed. */
function againButton(control: RangeControl, field: HTMLInputElement, change: Change) {
  const next = () => String(((Number(field.value) || 0) + 1) % (control.high + 1));
  return createButton("small", "Draw again", `again-${control.name}`, () => change(next()));
}

function createText(control: TextControl, change: Change): Drawn {
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

function createSelect(control: Control, options: [string, string][], change: Change): Drawn {
  const select = createElement("select", "", [], { testid: `input-${control.name}` });
  return { element: labelled(control, select), draw: (text) => fillSelect(select, options, text, change) };
}
