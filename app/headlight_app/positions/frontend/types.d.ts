// The data from Python that are not in the contract, and the page's own types.

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
  presenter: string;
  shared: SharedState;
}

/** An array with its shape. */
export interface NumberArray {
  shape: number[];
  values: Float32Array;
}

/** The arrays that an encoding has. */
export type Profile = Partial<
  Record<"embeddings" | "angles" | "bias" | "slopes" | "similarity" | "buckets" | "bucket_similarity", NumberArray>
>;

/** The current choice, as far as it applies to an encoding. */
export interface Chosen {
  channels: number[];
  pairs: number[];
  head: number;
  position: number;
}

export interface Chart {
  title: string;
  /** Returns the lower end. */
  draw(figure: Figure, box: Box): number;
  /** The value under the pointer in words; empty if there is none. */
  read(figure: Figure, sheet: Element, event: MouseEvent): string;
  /** The choices of the chart. */
  control?: { kind: keyof Chosen; options: number[] };
  caption?: string;
}
