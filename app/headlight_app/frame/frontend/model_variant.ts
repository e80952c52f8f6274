// The sidebar's model variant: the mask, positional encoding and other parts that replace the trained ones. A component
// with heads on the page gets a change at once and reports it to Streamlit; without one, this component reports it.

import { chooseElsewhere, defineComponent } from "../../ui/frontend/bridge.ts";
import type { Variant } from "../../ui/frontend/contract.ts";
import { createButton, createElement, updateChildren } from "../../ui/frontend/dom/dom.ts";
import { find, findByTestId } from "../../ui/frontend/dom/elements.ts";
import { askMask, listenToMask } from "../../ui/frontend/mask_events.ts";
import { defaultMask, paintedMask, parseMask } from "../../ui/frontend/mask_spec.ts";
import { createTermLine } from "../../ui/frontend/terms.ts";
import { MaskPainter } from "./mask_painter.ts";
import type { VariantData, VariantField } from "./types.ts";

const FULL_ONLY = "attention_function"; // hidden in simple mode
const PATIENCE = 3000; // milliseconds for which Streamlit may still send an older choice
const AS_TRAINED: Variant = { masks: "", positional_encoding: "", attention_function: "", scale: "", pooling: "" };

function group(title: string, options: HTMLOptionElement[]) {
  return createElement("optgroup", "", options, { label: title });
}

class ModelVariant {
  end;

  #root;
  #data;
  #variant;
  #turn;
  #painter;
  /** The serial number of the last report by the component with the heads. */
  #awaited = 0;
  #until = 0;
  #drawn = "";
  #tell: (name: string, value: unknown) => void = () => {};

  constructor(place: HTMLElement, data: VariantData) {
    this.#root = find(place, ".model-variant");
    this.#data = data;
    this.#variant = { ...data.variant };
    this.#turn = data.turn;
    this.#painter = new MaskPainter(find(place, '[data-part="cells"]'), (cells) =>
      this.#change({ masks: paintedMask(parseMask(this.#variant.masks).base, cells) }),
    );
    this.end = listenToMask(() => this.#draw());
  }

  update(data: VariantData, tell: (name: string, value: unknown) => void) {
    this.#tell = tell;
    const isOther = data.model !== this.#data.model; // its first run does not include earlier choices
    this.#data = data;
    const behind = !isOther && Date.now() < this.#until && (data.serial < this.#awaited || data.turn < this.#turn);
    if (!behind) this.#variant = { ...data.variant };
    this.#draw();
  }

  #change(patch: Partial<Variant>) {
    this.#variant = { ...this.#variant, ...patch };
    this.#draw();
    this.#until = Date.now() + PATIENCE;
    const serial = chooseElsewhere({ variant: this.#variant });
    if (serial !== null) this.#awaited = serial;
    else this.#tell("settled", { variant: this.#variant, turn: ++this.#turn });
  }

  #draw() {
    const { kind, argument } = parseMask(this.#variant.masks);
    const shown = { ...this.#variant, masks: kind };
    const drawn = JSON.stringify([this.#data.fields, this.#data.trained_models, shown]);
    // An open list stays open.
    if (this.#drawn !== drawn)
      updateChildren(
        find(this.#root, ".parts"),
        ...this.#data.fields.flatMap((part) => [
          this.#createSelect(part, shown[part.field]),
          this.#createTerm(part.field),
          ...this.#rewiredNote(part, shown[part.field]),
        ]),
      );
    this.#drawn = drawn;
    this.#drawNumber(kind, argument);
    this.#drawCells(kind, argument);
    this.#drawScale();
    const reset = findByTestId(this.#root, "as-trained");
    reset.hidden = !Object.values(this.#variant).some(Boolean);
    reset.onclick = () => this.#change(AS_TRAINED);
    this.#root.dataset.drawn = "true";
  }

  #createSelect({ field, title, options }: VariantField, chosen: string) {
    const known = options.some(([value]) => value === chosen);
    const [asTrained, ...others] = options.map(
      ([value, name]) => new Option(name, value, false, value === (known ? chosen : "")),
    );
    const select = createElement("select", "", [asTrained], { testid: `variant-${field}` });
    if (field !== "positional_encoding") select.append(...others);
    else select.append(...this.#openable(options), group("Rewire these weights with", others));
    const before = () => this.#variant.masks || this.#data.trained_masks;
    select.onchange = () => {
      const { model } = select.selectedOptions[0].dataset;
      if (model) return this.#open(model);
      this.#change({
        [field]: field === "masks" ? defaultMask(select.value, this.#data.mask_arguments, before()) : select.value,
      });
    };
    const parts = [createElement("span", "name", title), select];
    return createElement("label", field === FULL_ONLY ? "part full-only" : "part", parts);
  }

  /** A line that explains a part. */
  #createTerm(field: VariantField["field"]) {
    const line = createTermLine([this.#data.terms[field]]);
    line.classList.toggle("full-only", field === FULL_ONLY);
    return line;
  }

  /** Options for models that differ only in the positional encoding they were trained with. */
  #openable(options: [string, string][]) {
    const models = options.filter(([value]) => value in this.#data.trained_models);
    const openable = models.map(([value, name]) => {
      const option = new Option(name, `trained:${value}`);
      option.dataset.model = this.#data.trained_models[value];
      return option;
    });
    return openable.length ? [group("Open the model trained with", openable)] : [];
  }

  /** A note on a replaced positional encoding, and a link to a model trained with it. */
  #rewiredNote({ field, options, trained }: VariantField, chosen: string) {
    const title = options.find(([value]) => value === chosen)?.[1];
    if (field !== "positional_encoding" || !chosen || !title) return [];
    const words = `Rewired: the weights were trained with ${trained}. `;
    const note = createElement("p", "rewired", words, { testid: "rewired" });
    const model = this.#data.trained_models[chosen];
    const name = `Open the model trained with ${title}`;
    if (model) note.append(createButton("link", name, "open-trained", () => this.#open(model)));
    return [note];
  }

  /** Open another model with its own positional encoding; other choices stay. */
  #open(model: string) {
    const isRewired = this.#variant.positional_encoding !== "";
    this.#variant = { ...this.#variant, positional_encoding: "" };
    if (isRewired) chooseElsewhere({ variant: this.#variant });
    this.#until = Date.now() + PATIENCE;
    this.#tell("settled", { variant: this.#variant, model, turn: ++this.#turn });
  }

  #drawNumber(kind: string, argument: string) {
    const part = find(this.#root, '[data-part="number"]');
    const slider = find(part, "input", HTMLInputElement);
    const row = this.#data.mask_arguments[kind];
    part.hidden = row?.control !== "number";
    if (!row || part.hidden) return;
    find(part, ".title").textContent = row.title;
    slider.ariaLabel = row.title;
    [slider.min, slider.max] = row.limits.map(String);
    slider.value = argument;
    find(part, "output").textContent = slider.value;
    slider.oninput = () => this.#change({ masks: `${kind}:${slider.value}` });
  }

  #drawCells(kind: string, argument: string) {
    const part = find(this.#root, '[data-part="cells"]');
    part.hidden = this.#data.mask_arguments[kind]?.control !== "cells";
    if (!part.hidden) this.#painter.draw(askMask(), argument);
  }

  #drawScale() {
    const { trained_scale: trained } = this.#data;
    const { scale } = this.#variant;
    const button = findByTestId(this.#root, "variant-scale");
    const on = scale ? scale === "on" : trained;
    button.ariaChecked = String(on);
    button.onclick = () => this.#change({ scale: !on === trained ? "" : on ? "off" : "on" });
  }
}

export default defineComponent((place, data: VariantData) => new ModelVariant(place, data));
