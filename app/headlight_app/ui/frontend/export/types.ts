// Figures for print and numbers to be saved, of every page.

import type { Question, State } from "../contract.ts";
import type { Circle, Curve, Heatmap, Polyline, Rectangle, Stamp, TextLine } from "./contract.ts";

/** A rectangle that is filled, framed or both. */
export type RectangleShape = Omit<Rectangle, keyof Ink> & Ink;

/** A circle that is filled, framed or both. */
export type CircleShape = Omit<Circle, keyof Ink> & Ink;

type Ink = Partial<Pick<Rectangle, "fill" | "stroke" | "stroke_width">>;

/** A map in the browser: its codes are bytes. */
export interface CellsShape extends Omit<Heatmap, "codes" | "palette"> {
  codes: Uint8Array;
  palette?: string[];
  /** On the screen: the painted cells, one pixel each. */
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

/** The colours of a figure, its font size, and the widths of its lines. */
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

/** The metadata of a figure's file: a line of text, and all fields as JSON. */
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
  /** The runs that the numbers are from, if not the page's own. */
  sides?: ShownSide[];
  /** A description of the numbers, if the title is not enough. */
  shown?: string;
}

/** The facts that a link to a page needs besides the choices. */
export interface SharedPage {
  path: string;
  /** The title of a model that only this visitor can open; empty for any other. */
  own_model: string;
  /** The address at which other machines reach the folder of all pages; empty if unknown. */
  room_address: string;
}

/** The same for a page that knows only a part of the choices. */
export interface SharedState {
  page: SharedPage;
  state: State;
}

/** One run that a page shows: the question, the shown heads, and the tokens for describing edits. */
export interface ShownSide {
  question: Question;
  attention_group?: string;
  heads?: [number, number][];
  tokens: { text: string }[];
  source_tokens: { text: string }[] | null;
}

/** A figure and its description. */
export interface ShownFigure {
  /** The file name. */
  name: string;
  shown: string;
  /** A shorter description for the drawing itself. */
  brief?: string;
  /** The runs that it is from, if not the page's own. */
  sides?: ShownSide[];
  /** The figure without its foot, and the y coordinate at which the foot begins. */
  draw(width: number, title: string): { figure: Figure; y: number };
}

/** A drawing and its numbers, to be exported. */
export interface ShownDrawing extends ShownFigure {
  /** By title. */
  tables: Record<string, Table>;
}

/** The figures and tables of a page for export, by title, the current ones first. */
export interface ShownView {
  sides: ShownSide[];
  charts: Record<string, () => ShownFigure | Promise<ShownFigure>>;
  tables: Record<string, Table>;
  /** A note on what cannot be exported, and why. */
  note?: string;
}
