// Figures for print, and numbers to be saved, as every page lays them out.

/** A line of text. */
export interface TextShape {
  kind: "text";
  x: number;
  y: number;
  size: number;
  /** As wide as it is in the browser's own font, so that every program lays it out alike. */
  text_width: number;
  anchor: "start" | "middle" | "end";
  rotation: number;
  bold: boolean;
  fill: string;
  text: string;
}

export interface RectangleShape {
  kind: "rectangle";
  x: number;
  y: number;
  width: number;
  height: number;
  fill?: string;
  stroke?: string;
  stroke_width?: number;
}

export interface CurveShape {
  kind: "curve";
  points: number[];
  stroke: string;
  stroke_width: number;
  opacity: number;
  dashed: boolean;
}

export interface CellsShape {
  kind: "heatmap";
  x: number;
  y: number;
  width: number;
  height: number;
  rows: number;
  columns: number;
  codes: Uint8Array;
  gap: number;
  /** Colours of its own for 256 codes, where they are not the figure's. */
  palette?: string[];
}

/** An image, such as one of a text that the server's font lacks. */
export interface StampShape {
  kind: "image";
  x: number;
  y: number;
  rotation: number;
  left: number;
  top: number;
  width: number;
  height: number;
  png: string;
}

export type Shape = TextShape | RectangleShape | CurveShape | CellsShape | StampShape;

/** Shapes in millimetres. */
export interface Figure {
  width: number;
  height: number;
  title: string;
  /** The colours of 256 byte codes. */
  palette: string[];
  shapes: Shape[];
}

export interface Box {
  x: number;
  y: number;
  width: number;
}

/** What a file says of itself beside the picture: a line of words, and all fields as JSON. */
export interface Metadata {
  line: string;
  fields: string;
}

/** Numbers with a label for each place along each axis. */
export interface Table {
  name: string;
  axes: string[];
  labels: string[][];
  values: Float32Array;
}

/** One run that a page shows: the question, which of its heads are shown, and the tokens that edits name. */
export interface ShownSide {
  question: { edits: string[]; [field: string]: unknown };
  attention_group?: string;
  heads?: [number, number][];
  tokens: { text: string }[];
  source_tokens: { text: string }[] | null;
}

/** A drawing and its numbers, to be exported. */
export interface ShownDrawing {
  /** Of its files. */
  name: string;
  /** In words, what picture and numbers are. */
  shown: string;
  /** The figure without what stands at its foot, and where that would begin. */
  draw(width: number, title: string): { figure: Figure; y: number };
  /** By what a person calls them. */
  tables: Record<string, Table>;
}

/** What a page shows, to be exported. */
export interface ShownView extends ShownDrawing {
  sides: ShownSide[];
}
