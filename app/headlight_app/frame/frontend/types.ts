import type { Variant } from "../../ui/frontend/contract.ts";
import type { MaskArguments } from "../../ui/frontend/mask_spec.ts";
import type { ModelGroup } from "../../ui/frontend/model_options.ts";
import type { Term } from "../../ui/frontend/terms.ts";

/** One list of the sidebar; options are pairs of a value and a title, `trained` is the title of the trained choice. */
export interface VariantField {
  field: "masks" | "positional_encoding" | "attention_function" | "pooling";
  title: string;
  trained: string;
  options: [string, string][];
}

/** The data from Streamlit. */
export interface VariantData {
  model: string;
  fields: VariantField[];
  /** One sentence about each part. */
  terms: Record<string, Term>;
  variant: Variant;
  /** By positional encoding, the model that was trained with it and differs in nothing else. */
  trained_models: Record<string, string>;
  /** The masks that the model was trained with. */
  trained_masks: string;
  /** Whether the model was trained with scores divided by √d. */
  trained_scale: boolean;
  mask_arguments: MaskArguments;
  /** The number of the last applied report of another component. */
  serial: number;
  /** The number of the last change received from this component. */
  turn: number;
}

/** The models from Streamlit, grouped by kind; `turn` counts the choices that it has received. */
export interface ModelPickerData {
  groups: ModelGroup[];
  chosen: string;
  turn: number;
}
