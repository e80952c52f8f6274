// Written from headlight_app/export/contract.py by app/contract_types.py.

import type {
  Difference,
  EditOperationRow,
  FileAnswer,
  HookPointRow,
  Question,
  Request,
  Sampling,
  State,
} from "../contract.ts";

/** One run that a page shows: its question, and the shown heads of an attention group. */
export interface Side {
  question: Question;
  attention_group: string;
  heads: [number, number][];
}

/** A request about one or several runs that a page shows; `shown` describes the content in words. */
export interface SidesRequest extends Request {
  sides: Side[];
  shown?: string;
}

/** The provenance of a figure: fields for its file, words for each side, and the rows that put edits into words. */
export interface ExportOriginAnswer {
  provenance: Record<string, unknown>;
  sides: string[][];
  operations: EditOperationRow[];
  hook_points: Record<string, HookPointRow>;
}

/** Requests the provenance of a figure. */
export type ExportOriginRequest = SidesRequest;

/** Numbers as a page shows them: `values` are float32 in the order of `axes`; `labels` name the places on each. */
export interface Table {
  name: string;
  axes: string[];
  labels: string[][];
  values: string;
}

/** Exports, as a file with their provenance, numbers that a page shows. */
export interface ExportTableRequest extends SidesRequest {
  table: Table;
  format: string;
}

/** A program that computes the same, in Python and, if a `headlight` command exists, for a shell. */
export interface ProgramAnswer {
  python: string;
  shell: string;
}

/** Exports, as a Python program, what a page shows: the weights of each side's heads. */
export interface ExportProgramRequest extends SidesRequest {
  sampling?: Sampling | null;
  generated?: [number, number][];
  length?: number;
  stack?: string;
  layer?: number | null;
}

/** The query of a link, the names of the omitted parameters, and the whole state for a file. */
export interface LinkAnswer {
  query: string;
  omitted: string[];
  state: State;
}

/** Requests the link of a state; the other fields, if set, replace the corresponding fields of the state. */
export interface LinkRequest extends Request {
  state: Partial<State>;
  side_b?: Difference | null;
  sampling?: Sampling | null;
  generated?: [number, number][];
}

/** A shape with a position and a size. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A rectangle, filled, stroked or both. */
export interface Rectangle extends Box {
  kind: "rectangle";
  fill: string;
  stroke: string;
  stroke_width: number;
}

/** A circle around a point, filled, stroked or both. */
export interface Circle {
  kind: "circle";
  x: number;
  y: number;
  radius: number;
  fill: string;
  stroke: string;
  stroke_width: number;
}

/** A straight line through two points, or a cubic Bézier curve with four. */
export interface Curve {
  kind: "curve";
  points: number[];
  stroke: string;
  stroke_width: number;
  opacity: number;
  dashed: boolean;
}

/** Straight segments between points. */
export interface Polyline {
  kind: "polyline";
  points: number[];
  stroke: string;
  stroke_width: number;
  opacity: number;
  dashed: boolean;
}

/** A line of text, stretched to its width in the browser, whose font may differ. */
export interface TextLine {
  kind: "text";
  text: string;
  x: number;
  y: number;
  size: number;
  text_width: number;
  fill: string;
  anchor: "end" | "middle" | "start";
  rotation: number;
  bold: boolean;
}

/** A map of byte codes; `palette` replaces the figure's palette. */
export interface Heatmap extends Box {
  kind: "heatmap";
  rows: number;
  columns: number;
  codes: string;
  gap: number;
  palette: string[] | null;
}

/** An image rendered by the browser, such as text in a script that the PDF's font lacks. */
export interface Stamp extends Box {
  kind: "image";
  left: number;
  top: number;
  png: string;
  rotation: number;
}

/** Shapes in drawing order, in millimetres from the upper left corner; `palette` are the colours of byte codes. */
export interface Figure {
  width: number;
  height: number;
  palette: string[];
  shapes: (Rectangle | Circle | Curve | Polyline | TextLine | Heatmap | Stamp)[];
  title: string;
  subject: string;
  keywords: string;
}

/** Exports, as PDF, a figure that the browser has laid out. */
export interface ExportPdfRequest extends Request {
  figure: Figure;
}

/** The request and the answer of each route. */
export interface ExportRoutes {
  export_origin: { request: ExportOriginRequest; answer: ExportOriginAnswer };
  export_table: { request: ExportTableRequest; answer: FileAnswer };
  export_program: { request: ExportProgramRequest; answer: ProgramAnswer };
  link: { request: LinkRequest; answer: LinkAnswer };
  export_pdf: { request: ExportPdfRequest; answer: FileAnswer };
}

export const MAX_TABLE_NUMBERS = 380000;
