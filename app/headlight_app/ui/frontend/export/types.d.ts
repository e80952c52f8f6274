// Figures for print, and numbers to be saved, as every page lays them out.

import type { Question, State } from "../contract.js";
import type { Circle, Curve, Heatmap, Polyline, Rectangle, Stamp, TextLine } from "./contract.js";

/** A rectangle that is filled, framed or both. */
export type RectangleShape = Omit<Rectangle, keyof Ink> & Ink;

/** The same round a point. */
export type CircleShape = Omit<Circle, keyof Ink> & Ink;

type Ink = Partial<Pick<Rectangle, "fill" | "stroke" | "stroke_width">>;

/** A map as it is drawn here: its codes are bytes. */
export interface CellsShape extends Omit<Heatmap, "codes" | "palette"> {
  codes: Uint8Array;
  palette?: string[];
  /** On the screen: the cells as they are painted, one pixel each. */
  image?: HTMLCanvasElement;
}

export type Shape = TextLine | RectangleShape | CircleShape | Curve | Polyline | CellsShape | Stamp;

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
  minus: string;
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
  /** What they are, in words, where their title does not say it. */
  shown?: string;
}

/** What a link to a page must know besides what was chosen there. */
export interface SharedPage {
  path: string;
  /** The title of a model that only this visitor can open; empty for any other. */
  own_model: string;
  own_image_prefix: string;
  /** Where others find the page; empty where it is not known. */
  room_address: string;
}

/** The same of a page that knows only its own part of what was chosen. */
export interface SharedState {
  page: SharedPage;
  state: State;
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
  /** Of its file. */
  name: string;
  shown: string;
  /** The same where less of it is to be drawn than its file says. */
  brief?: string;
  /** The runs that it is from, where those are not the page's own. */
  sides?: ShownSide[];
  /** The figure without what stands at its foot, and where that would begin. */
  draw(width: number, title: string): { figure: Figure; y: number };
}

/** A drawing and its numbers, to be exported. */
export interface ShownDrawing extends ShownFigure {
  /** By what a person calls them. */
  tables: Record<string, Table>;
}

/** What a page shows, to be exported: each figure and table by what a person calls it, that at hand first. */
export interface ShownView {
  sides: ShownSide[];
  charts: Record<string, () => ShownFigure | Promise<ShownFigure>>;
  tables: Record<string, Table>;
  /** What cannot leave as it is, and why. */
  note?: string;
}
