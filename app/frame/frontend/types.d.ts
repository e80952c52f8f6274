/** What a model's parts are replaced by; "" is as trained. A mask is a kind, with an argument behind a colon. */
export interface VariantChoice {
  masks: string;
  position: string;
  kernel: string;
  /** "on", "off" or "". */
  scale: string;
}

/** One list of the sidebar; options are pairs of a value and a title. */
export interface VariantPart {
  field: "masks" | "position" | "kernel";
  title: string;
  options: [string, string][];
}

/** What Streamlit says. */
export interface VariantData {
  parts: VariantPart[];
  choice: VariantChoice;
  /** Whether the model was trained with scores divided by √d. */
  scaled: boolean;
  /** Window width, in tokens, and matrix of a mask that was just chosen. */
  width: number;
  matrix: string;
  /** The last change of this session that Streamlit has heard from another component. */
  serial: number;
  /** The last change that it has heard from this one. */
  turn: number;
}
