// Lists of the parts of a model that can be replaced: its mask, its positional encoding and others.

import type { Variant } from "./contract.ts";
import { createButton, createElement, updateChildren } from "./dom/dom.ts";
import { find } from "./dom/elements.ts";
import type { MaskArguments } from "./mask_spec.ts";
import { defaultMask, parseMask } from "./mask_spec.ts";
import type { Term } from "./terms.ts";
import { createTermLine } from "./terms.ts";

/** One list; options are pairs of a value and a title, `trained` is the title of the trained choice. */
interface VariantField {
  field: "masks" | "positional_encoding" | "attention_function" | "pooling";
  title: string;
  trained: string;
  options: [string, string][];
}

/** The data from Streamlit. */
export interface VariantParts {
  fields: VariantField[];
  /** By positional encoding, the model that was trained with it and differs in nothing else. */
  trained_models: Record<string, string>;
  /** The masks that the model was trained with. */
  trained_masks: string;
  mask_arguments: MaskArguments;
}

const FULL_ONLY = "attention_function"; // hidden in simple mode

function group(title: string, options: HTMLOptionElement[]) {
  return createElement("optgroup", "", options, { label: title });
}

export class PartLists {
  #place;
  #change;
  #open;
  #isBar;
  #variant: Variant = { masks: "", positional_encoding: "", attention_function: "", scale: "", pooling: "" };
  #drawn = "";
  #number: HTMLElement | null = null;

  /**
   * @param place of the lists, and of a slider for the number of a mask
   * @param open opens another model with its own positional encoding; other choices stay
   * @param isBar what each list is about is said by its tooltip, not by a line below it
   */
  constructor(
    place: HTMLElement,
    change: (patch: Partial<Variant>) => void,
    open: (model: string) => void,
    isBar: boolean = false,
  ) {
    this.#place = place;
    this.#change = change;
    this.#open = open;
    this.#isBar = isBar;
  }

  draw(parts: VariantParts, variant: Variant, terms: Record<string, Term>) {
    this.#variant = variant;
    const { kind, argument } = parseMask(variant.masks);
    const shown = { ...variant, masks: kind };
    const drawn = JSON.stringify([parts, shown]);
    // An open list stays open.
    if (this.#drawn !== drawn)
      updateChildren(
        find(this.#place, ".parts"),
        ...parts.fields.flatMap((part) => [
          this.#createSelect(parts, part, shown[part.field], this.#isBar ? terms[part.field].sentence : ""),
          ...(this.#isBar ? [] : [createTerm(terms, part.field)]),
          ...this.#rewiredNote(parts, part, shown[part.field]),
        ]),
      );
    this.#drawn = drawn;
    const hasMasks = parts.fields.some(({ field }) => field === "masks");
    this.#drawNumber(hasMasks ? parts.mask_arguments[kind] : undefined, kind, argument);
  }

  #createSelect(parts: VariantParts, { field, title, options }: VariantField, chosen: string, tooltip: string) {
    const known = options.some(([value]) => value === chosen);
    const [asTrained, ...others] = options.map(
      ([value, name]) => new Option(name, value, false, value === (known ? chosen : "")),
    );
    const select = createElement("select", "", [asTrained], { testid: `variant-${field}`, title: tooltip });
    if (field !== "positional_encoding") select.append(...others);
    else select.append(...openable(parts, options), group("Rewire these weights with", others));
    select.onchange = () => {
      const { model } = select.selectedOptions[0].dataset;
      if (model) return this.#open(model);
      const before = this.#variant.masks || parts.trained_masks;
      this.#change({
        [field]: field === "masks" ? defaultMask(select.value, parts.mask_arguments, before) : select.value,
      });
    };
    const label = createElement("label", field === FULL_ONLY ? "replaceable full-only" : "replaceable", [
      createElement("span", "name", title),
      select,
    ]);
    label.classList.toggle("replaced", Boolean(chosen));
    return label;
  }

  /** A note on a replaced positional encoding, and a link to a model trained with it. */
  #rewiredNote(parts: VariantParts, { field, options, trained }: VariantField, chosen: string) {
    const title = options.find(([value]) => value === chosen)?.[1];
    if (field !== "positional_encoding" || !chosen || !title) return [];
    const words = createElement("span", "", `Rewired: the weights were trained with ${trained}. `);
    const note = createElement("p", "rewired", [words], { testid: "rewired" });
    const model = parts.trained_models[chosen];
    const name = `Open the model trained with ${title}`;
    if (model) note.append(createButton("link", name, "open-trained", () => this.#open(model)));
    return [note];
  }

  /** A slider for the number of a mask, if it has one; the same element while it is moved. */
  #drawNumber(row: MaskArguments[string], kind: string, argument: string) {
    if (row?.control !== "number") {
      this.#number?.remove();
      this.#number = null;
      return;
    }
    const slider = this.#number?.querySelector("input") ?? createElement("input", "", [], { type: "range" });
    const [title, output] = [`${row.title}: `, createElement("output", "", argument)];
    const name = createElement("span", "name", [title, output]);
    if (this.#number) this.#number.firstElementChild?.replaceWith(name);
    else {
      this.#number = createElement("label", "replaceable number", [name, slider]);
      find(this.#place, ".parts").after(this.#number);
    }
    Object.assign(slider, { min: String(row.limits[0]), max: String(row.limits[1]), value: argument });
    Object.assign(slider, { ariaLabel: row.title, oninput: () => this.#change({ masks: `${kind}:${slider.value}` }) });
    slider.dataset.testid = "variant-width";
  }
}

/** A line that explains a part. */
function createTerm(terms: Record<string, Term>, field: VariantField["field"]) {
  const line = createTermLine([terms[field]]);
  line.classList.toggle("full-only", field === FULL_ONLY);
  return line;
}

/** Options for models that differ only in the positional encoding they were trained with. */
function openable(parts: VariantParts, options: [string, string][]) {
  const models = options.filter(([value]) => value in parts.trained_models);
  const found = models.map(([value, name]) => {
    const option = new Option(name, `trained:${value}`);
    option.dataset.model = parts.trained_models[value];
    return option;
  });
  return found.length ? [group("Open the model trained with", found)] : [];
}
