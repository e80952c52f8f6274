import type { Variant } from "../../ui/frontend/contract.js";
import type { MaskArguments } from "../../ui/frontend/mask_spec.js";
import type { ModelGroup } from "../../ui/frontend/model_options.js";
import type { Term } from "../../ui/frontend/terms.js";

/** One list of the sidebar; options are pairs of a value and a title, `trained` the title of what the model was trained with. */
export interface VariantField {
  field: "masks" | "positional_encoding" | "attention_function" | "pooling";
  title: string;
  trained: string;
  options: [string, string][];
}

/** What Streamlit says. */
export interface VariantData {
  model: string;
  fields: VariantField[];
  /** One sentence on each part. */
  terms: Record<string, Term>;
  variant: Variant;
  /** By positional encoding, the name of the model that was trained with it and is else alike. */
  trained_models: Record<string, string>;
  /** The masks that the model was trained with. */
  trained_masks: string;
  /** Whether the model was trained with scores divided by √d. */
  trained_scale: boolean;
  mask_arguments: MaskArguments;
  /** The last change of this session that Streamlit has heard from another component. */
  serial: number;
  /** The last change that it has heard from this one. */
  turn: number;
}

/** What Streamlit says of the models, in groups of those that do the same; `turn` counts the choices it has heard. */
export interface ModelPickerData {
  groups: ModelGroup[];
  chosen: string;
  turn: number;
}
