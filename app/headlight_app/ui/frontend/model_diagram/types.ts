// Types for the layout of a model's diagram.

import type { DiagramPart } from "../contract.ts";

export type { DiagramPart, ModelDiagramAnswer, StackDiagram, SublayerDiagram } from "../contract.ts";

export interface DiagramBox {
  part: DiagramPart;
  stack: string;
  layer: number;
  x: number;
  y: number;
  width: number;
  height: number;
  lines: string[];
}

/** A line through points x, y, x, y, ...; `memory` lines lead from the encoder to cross-attention. */
export interface DiagramLine {
  points: number[];
  arrow: boolean;
  memory?: boolean;
}

export interface DiagramLayout {
  width: number;
  height: number;
  boxes: DiagramBox[];
  lines: DiagramLine[];
  sums: { x: number; y: number; kind: string; stack: string }[];
  frames: { x: number; y: number; width: number; height: number }[];
}

/** A part in its stack; for a bar, the layer that it opens. */
export interface DiagramPlace {
  kind: string;
  stack: string;
  layer: number;
}

/** The choices on Explore that entering a part makes. */
export interface DiagramChoice {
  tab?: string;
  attention?: string;
  layer?: number;
  heads?: string[];
  step?: string;
  analysis?: string;
}
