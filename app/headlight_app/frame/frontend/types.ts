import type { Variant } from "../../ui/frontend/contract.ts";
import type { ModelGroup } from "../../ui/frontend/model_options.ts";
import type { Term } from "../../ui/frontend/terms.ts";
import type { VariantParts } from "../../ui/frontend/variant_parts.ts";

/** The data from Streamlit. */
export interface VariantData extends VariantParts {
  model: string;
  /** One sentence about each part. */
  terms: Record<string, Term>;
  variant: Variant;
  /** Whether the model was trained with scores divided by √d. */
  trained_scale: boolean;
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
