// The sidebar's model variant: the parts that replace the trained ones, except those that the page itself shows. A
// component with heads on the page gets a change at once and reports it to Streamlit; without one, this component does.

import { chooseElsewhere, defineComponent } from "../../ui/frontend/bridge.ts";
import type { Variant } from "../../ui/frontend/contract.ts";
import { find, findByTestId } from "../../ui/frontend/dom/elements.ts";
import { parseMask } from "../../ui/frontend/mask_spec.ts";
import { PartLists } from "../../ui/frontend/variant_parts.ts";
import type { VariantData } from "./types.ts";

const PATIENCE = 3000; // milliseconds for which Streamlit may still send an older choice

class ModelVariant {
  #root;
  #data;
  #variant;
  #turn;
  #lists;
  /** The serial number of the last report by the component with the heads. */
  #awaited = 0;
  #until = 0;
  #tell: (name: string, value: unknown) => void = () => {};

  constructor(place: HTMLElement, data: VariantData) {
    this.#root = find(place, ".model-variant");
    this.#data = data;
    this.#variant = { ...data.variant };
    this.#turn = data.turn;
    this.#lists = new PartLists(
      this.#root,
      (patch) => this.#change(patch),
      (model) => this.#open(model),
    );
  }

  end() {}

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
    const serial = chooseElsewhere({ variant: patch });
    if (serial !== null) this.#awaited = serial;
    else this.#tell("settled", { variant: this.#variant, turn: ++this.#turn });
  }

  #open(model: string) {
    this.#variant = { ...this.#variant, positional_encoding: "" };
    this.#until = Date.now() + PATIENCE;
    this.#tell("settled", { variant: this.#variant, model, turn: ++this.#turn });
  }

  #draw() {
    const { fields, mask_arguments, terms } = this.#data;
    this.#lists.draw(this.#data, this.#variant, terms);
    const isPainted = mask_arguments[parseMask(this.#variant.masks).kind]?.control === "cells";
    find(this.#root, ".painted").hidden = !isPainted || !fields.some(({ field }) => field === "masks");
    this.#drawScale();
    const names = [...fields.map(({ field }) => field), "scale" as const];
    const reset = findByTestId(this.#root, "as-trained");
    reset.hidden = !names.some((name) => this.#variant[name]);
    reset.onclick = () => this.#change(Object.fromEntries(names.map((name) => [name, ""])));
    this.#root.dataset.drawn = "true";
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
