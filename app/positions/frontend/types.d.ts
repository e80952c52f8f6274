// What the Positions page gets from Python.

/** What is chosen on the page; channels, pairs, head and position where the encoding has them. */
export interface PositionsData {
  api: string;
  /** What is asked: the model with its parts, how many positions, of which stack. */
  question: { edits: string[]; model: string; length: number; stack: string };
  /** The encoding's title. */
  title: string;
  channels?: number[];
  pairs?: number[];
  head?: number;
  position?: number;
  /** What was measured of models that differ in their positional encoding alone, for each architecture. */
  losses: MeasuredLosses[];
  writes_pdf: boolean;
  presenter: string;
}

/** The answer of the route "export_positions"; its numbers follow each other in the order of their shapes. */
export interface ProfileMeta {
  shapes: Record<string, number[]>;
  missing: string;
}

/** An array by its shape. */
export interface NumberArray {
  shape: number[];
  values: Float32Array;
}

/** In nats per token, over the texts that were measured. */
export interface MeasuredLoss {
  mean: number;
  standard_error: number;
}

/** The losses of models by their encodings at each length of text, and with the words of a text shuffled. */
export interface MeasuredLosses {
  architecture: string;
  lengths: number[];
  /** Null where a length is undefined for an encoding. */
  rows: { title: string; losses: (MeasuredLoss | null)[]; shuffled: MeasuredLoss | null }[];
}
