// A model's diagram, as it travels and as it is laid out.

/** A box of a model's diagram; the classes of the same names in model/rendering/model_diagram.py. */
export interface DiagramPart {
  kind: string;
  title: string;
  details: string[];
  shape: number[];
}

export interface SublayerDiagram {
  kind: string;
  parts: DiagramPart[];
  /** Whether its output is added to the residual stream; else it takes its place. */
  added: boolean;
  norm: DiagramPart | null;
  norm_on_stream: "" | "before" | "after";
}

export interface StackDiagram {
  name: string;
  title: string;
  inputs: DiagramPart[];
  positions: DiagramPart | null;
  after_positions: DiagramPart[];
  layers: number;
  /** The layer whose block is drawn. */
  layer: number;
  sublayers: SublayerDiagram[];
  parallel: boolean;
  outputs: DiagramPart[];
  residual_shape: number[];
}

export interface ModelDiagram {
  stacks: StackDiagram[];
  head: DiagramPart[];
}

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

/** A line through points x, y, x, y and so on; the encoder's `memory` leads to cross-attention. */
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

/** A part in its stack; of a bar, the layer that it opens. */
export interface DiagramPlace {
  kind: string;
  stack: string;
  layer: number;
}

/** What is chosen on Explore by who enters a part. */
export interface DiagramChoice {
  tab?: string;
  attention?: string;
  layer?: number;
  heads?: string[];
  step?: string;
  analysis?: string;
}
