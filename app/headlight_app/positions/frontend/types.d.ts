// What the Positions page gets from Python besides what the contract says.

import type { SharedState } from "../../ui/frontend/export/types.js";
import type { ExportPositionsRequest, LossTable } from "./contract.js";

/** What is chosen on the page; channels, pairs, head and position where the encoding has them. */
export interface PositionsData {
  api: string;
  request: Required<ExportPositionsRequest>;
  /** The encoding's title. */
  title: string;
  channels?: number[];
  pairs?: number[];
  head?: number;
  position?: number;
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
