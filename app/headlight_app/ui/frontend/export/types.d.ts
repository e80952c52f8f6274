// Figures for print, and numbers to be saved, as every page lays them out.

import type { Question } from "../contract.js";
import type { Curve, Heatmap, Polyline, Rectangle, Stamp, TextLine } from "./contract.js";

/** A rectangle that is filled, framed or both. */
export type RectangleShape = Omit<Rectangle, "fill" | "stroke" | "stroke_width"> & Partial<Rectangle>;

/** A map as it is drawn here: its codes are bytes. */
export interface CellsShape extends Omit<Heatmap, "codes" | "palette"> {
  codes: Uint8Array;
  palette?: string[];
  /** On the screen: the cells as they are painted, one pixel each. */
  image?: HTMLCanvasElement;
}

export type Shape = TextLine | RectangleShape | Curve | Polyline | CellsShape | Stamp;

/** Shapes, in millimetres for print and in pixels on the screen. */
export interface Figure {
  width: number;
  height: number;
  title: string;
  /** The colours of 256 byte codes. */
  palette: string[];
  shapes: Shape[];
  look: Look;
}

/** The colours of a figure, the size of its words, and how thick its lines are. */
export interface Look {
  ink: string;
  quiet: string;
  line: string;
  beam: string;
  ground: string;
  paper: string;
  size: number;
  thin: number;
  thick: number;
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
  /** The runs that they are from, where those are not the page's own. */
  sides?: ShownSide[];
}

/** One run that a page shows: the question, which of its heads are shown, and the tokens that edits name. */
export interface ShownSide {
  question: Question;
  attention_group?: string;
  heads?: [number, number][];
  tokens: { text: string }[];
  source_tokens: { text: string }[] | null;
}

/** A figure, and what it shows in words. */
export interface ShownFigure {
  shown: string;
  /** The figure without what stands at its foot, and where that would begin. */
  draw(width: number, title: string): { figure: Figure; y: number };
}

/** A drawing and its numbers, to be exported. */
export interface ShownDrawing extends ShownFigure {
  /** Of its files. */
  name: string;
  /** By what a person calls them. */
  tables: Record<string, Table>;
}

/** What a page shows, to be exported. */
export interface ShownView extends ShownDrawing {
  sides: ShownSide[];
  /** One chart each, where the page has several, by its title; with the runs it is from where those are not the page's own. */
  charts?: Record<string, ShownFigure & { sides?: ShownSide[] }>;
}
