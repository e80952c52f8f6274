// Written from headlight_app/export/contract.py by tests/javascript/contracts.py.

import type {
  Difference,
  EditOperationRow,
  FileAnswer,
  HookPointRow,
  Question,
  Request,
  Sampling,
  State,
} from "../contract.js";

/** One run that a page shows: its question, and which heads of which attention. */
export interface Side {
  question: Question;
  attention_group: string;
  heads: [number, number][];
}

/** A request about what a page shows of one run or several; `shown` says in words what that is. */
export interface SidesRequest extends Request {
  sides: Side[];
  shown?: string;
}

/** The provenance of a figure: fields for its file, words for each side, and the rows that say edits in words. */
export interface ExportOriginAnswer {
  provenance: Record<string, unknown>;
  sides: string[][];
  operations: EditOperationRow[];
  hook_points: Record<string, HookPointRow>;
}

/** Where a figure is from. */
export type ExportOriginRequest = SidesRequest;

/** Numbers as a page shows them: `values` are float32 in the order of `axes`, and `labels` name each place. */
export interface Table {
  name: string;
  axes: string[];
  labels: string[][];
  values: string;
}

/** Numbers that a page shows, as a file of a format that says where they are from. */
export interface ExportTableRequest extends SidesRequest {
  table: Table;
  format: string;
}

/** A program that computes the same, in Python and, where `headlight` has a command for it, for a shell. */
export interface ProgramAnswer {
  python: string;
  shell: string;
}

/** What a page shows as Python: the weights of each side's heads. */
export interface ExportProgramRequest extends SidesRequest {
  sampling?: Sampling | null;
  generated?: [number, number][];
  length?: number;
  stack?: string;
  layer?: number | null;
}

/** The parameters of an address, the names of what cannot stand in one, and the whole state for a file. */
export interface LinkAnswer {
  query: string;
  omitted: string[];
  state: State;
}

/** The address of a state; what a page knows better than the state says takes its place there. */
export interface LinkRequest extends Request {
  state: Partial<State>;
  side_b?: Difference | null;
  sampling?: Sampling | null;
  generated?: [number, number][];
}

/** A shape that has a place and a size. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A rectangle that is filled, framed or both. */
export interface Rectangle extends Box {
  kind: "rectangle";
  fill: string;
  stroke: string;
  stroke_width: number;
}

/** A circle around a point that is filled, framed or both. */
export interface Circle {
  kind: "circle";
  x: number;
  y: number;
  radius: number;
  fill: string;
  stroke: string;
  stroke_width: number;
}

/** A line of two points, or one of four that bends (Bézier). */
export interface Curve {
  kind: "curve";
  points: number[];
  stroke: string;
  stroke_width: number;
  opacity: number;
  dashed: boolean;
}

/** A line through points, without bends. */
export interface Polyline {
  kind: "polyline";
  points: number[];
  stroke: string;
  stroke_width: number;
  opacity: number;
  dashed: boolean;
}

/** A line of text that is as long as it was in the browser, whose font may be narrower. */
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

/** A map of byte codes, with a palette of its own where that is not the figure's. */
export interface Heatmap extends Box {
  kind: "heatmap";
  rows: number;
  columns: number;
  codes: string;
  gap: number;
  palette: string[] | null;
}

/** An image, such as one of a text in a script that the PDF's font lacks, as the browser has painted it. */
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

/** A figure that the browser has laid out, as PDF. */
export interface ExportPdfRequest extends Request {
  figure: Figure;
}

/** What each route is asked, and what it answers. */
export interface ExportRoutes {
  export_origin: { request: ExportOriginRequest; answer: ExportOriginAnswer };
  export_table: { request: ExportTableRequest; answer: FileAnswer };
  export_program: { request: ExportProgramRequest; answer: ProgramAnswer };
  link: { request: LinkRequest; answer: LinkAnswer };
  export_pdf: { request: ExportPdfRequest; answer: FileAnswer };
}
