// What the Positions page gets from Python besides what the contract says, and what it draws.

import type { Box, Figure, SharedState } from "../../ui/frontend/export/types.js";
import type { LossTable, PositionProfileRequest } from "./contract.js";

export type * from "../../ui/frontend/types.js";
export type * from "./contract.js";

export interface PositionsData {
  api: string;
  request: Required<PositionProfileRequest>;
  /** The encoding's title. */
  title: string;
  losses: LossTable[];
  writes_pdf: boolean;
  presenter: string;
  shared: SharedState;
}

/** An array by its shape. */
export interface NumberArray {
  shape: number[];
  values: Float32Array;
}

/** The arrays that an encoding has. */
export type Profile = Partial<
  Record<"embeddings" | "angles" | "bias" | "slopes" | "similarity" | "buckets" | "bucket_similarity", NumberArray>
>;

/** What is looked at, where an encoding has it. */
export interface Chosen {
  channels: number[];
  pairs: number[];
  head: number;
  position: number;
}

export interface Chart {
  title: string;
  /** Gives its lower end. */
  draw(figure: Figure, box: Box): number;
  /** What is under the pointer, in words; nothing where nothing is. */
  read(figure: Figure, sheet: Element, event: MouseEvent): string;
  /** What can be chosen of it. */
  control?: { kind: keyof Chosen; options: number[] };
  caption?: string;
}
