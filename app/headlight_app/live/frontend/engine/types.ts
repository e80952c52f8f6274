// The engine's interface, and the plan that Python writes (model/headlight/live/plan.py).

/** A value of a hook point, without the batch axis, row by row; truth values are 0 and 1. */
export interface Value {
  readonly shape: readonly number[];
  readonly numbers: Float32Array;
}

/** Called at every hook point; it may change the numbers in place. */
export type Edit = (path: string, value: Value) => void;

/** What one run recorded. */
export interface Trace {
  readonly paths: readonly string[];
  /** Throws an error with a sentence for an unknown path. */
  value(path: string): Value;
  /** Of one position, [token]; of the whole text for a model that pools it. */
  logits(position: number): Float32Array;
}

export interface Engine {
  /** Throws a Refused with a sentence for a text or a change that the model cannot run. */
  run(ids: readonly number[], edit?: Edit, encoding?: string): Trace;
  /** What a part of the model makes of its inputs (model/headlight/live/pieces.py), which have a batch axis or none. */
  piece(name: string, inputs: Readonly<Record<string, Value>>): Value;
}

/** An argument of a step; {length: [a, b]} is a n + b in a text of n tokens. */
export type Argument =
  | null
  | boolean
  | number
  | string
  | readonly Argument[]
  | { readonly step: number }
  | { readonly input: string }
  | { readonly weight: number }
  | { readonly length: readonly [number, number] }
  | { readonly number: string };

/** The name of an operator, and its arguments. */
export type Step = readonly [string, ...Argument[]];

export interface Program {
  readonly steps: readonly Step[];
  readonly result: Argument;
}

/** The positions that an encoding knows. */
export interface PositionLimits {
  readonly title: string;
  readonly range: readonly [number, number];
  readonly integers: boolean;
}

export interface StoredWeight {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: "float32" | "float16" | "int8";
  readonly start: number;
}

export interface PlanFile {
  readonly encoding: string;
  readonly context_length: number;
  readonly vocabulary_size: number;
  /** How many logits there are of a position: tokens or labels. */
  readonly answers: number;
  readonly hidden: Readonly<Record<string, Program & { readonly positions: readonly PositionLimits[] }>>;
  readonly logits: Program | null;
  readonly is_pooled: boolean;
  readonly pieces: Readonly<Record<string, Program>>;
  readonly weights: readonly StoredWeight[];
}
