// Types for drawing heads; the server's answers are in the contracts.

import type { CompareRoutes } from "../../compare/frontend/contract.ts";
import type { CourseRoutes } from "../../course/frontend/contract.ts";
import type { ExploreRoutes, HeadViewAnswer, MatrixAxis, TraceAnswer } from "../../explore/frontend/contract.ts";
import type { GenerateRoutes } from "../../generate/frontend/contract.ts";
import type { LessonRoutes } from "../../lesson/frontend/contract.ts";
import type { RoomRoutes } from "../../room/frontend/contract.ts";
import type {
  AttentionGroupAnswer,
  Catalogue,
  ColourRangeRow,
  ContractRoutes,
  FileAnswer,
  HeadChoice,
  Patches,
  QuantityRow,
  Question,
  Refusal,
  Token,
} from "./contract.ts";
import type { ExportRoutes } from "./export/contract.ts";
import type { headElements } from "./heads/heads_tab.ts";
import type { State } from "./state/state.ts";

export type {
  HeadViewAnswer,
  HeadViewRequest,
  MatrixAxis,
  QkProjectionAnswer,
} from "../../explore/frontend/contract.ts";
export type * from "./contract.ts";
export type {
  Curve,
  ExportPdfRequest,
  ExportProgramRequest,
  LinkRequest,
  Polyline,
  Stamp,
  TextLine,
} from "./export/contract.ts";
export type * from "./export/types.ts";

/** The text whose tokens are the queries or keys of an attention: the model's own text, or its source. */
export type Side = AttentionGroupAnswer["queries"];

/** How numbers become colours: as a share of 1, as a root of the share of the largest, or as they are. */
export type Scale = HeadViewAnswer["scale"];

/** `exact`: in a saved page, all weights as float32 follow the byte codes. */
export interface AttentionGroup extends AttentionGroupAnswer {
  exact?: boolean;
}

/** The positions of patches; in a saved page with the image. */
export interface ShownPatches extends Patches {
  image?: EmbeddedImage;
}

/** Red, green and blue, deflated, as base64. */
export interface EmbeddedImage {
  height: number;
  width: number;
  bytes: string;
}

/** The part of an answer that is drawn. */
export interface Answer
  extends Pick<
    TraceAnswer,
    "tokens" | "source_tokens" | "predictions" | "changed" | "no_prediction_reason" | "notes" | "maskable"
  > {
  /** For a trace in a notebook, only the texts are known. */
  question: Pick<Question, "text" | "source"> & Partial<Question>;
  attention_groups: AttentionGroup[];
  patches: ShownPatches | null;
  sound: TraceAnswer["sound"];
  bytes: Uint8Array<ArrayBuffer>;
  made_text?: string;
}

/** The choices about heads, and the parts of the question that drawings of heads need. */
export type DisplayChoice = Omit<HeadChoice, "image" | "text_pair" | "chat" | "variant" | "device" | "measure">;

/** A parsed edit; `at` is the selection along each axis: "3", "2:5", or empty. */
export interface ParsedEdit {
  path: string;
  hookPoint: string;
  stack: string;
  layer: string;
  part: string;
  at: Record<string, string>;
  operation: string;
  number: number;
  title: string;
}

/** A description of an edit: text, and tokens of the sentence. */
export type Words = (string | { token: Pick<Token, "text"> })[];

/** Layer and head. */
export type Head = [layer: number, head: number];

/** A query and a key that it looks at, as positions. */
export interface Pair {
  query: number;
  key: number;
}

/** The positions under the pointer; null if there are none. */
export interface Pointer {
  query: number | null;
  key: number | null;
}

/** The selected heads as one matrix of numbers, queries downwards and keys to the right. */
export interface HeadMatrix {
  rows: MatrixAxis;
  columns: MatrixAxis;
  height: number;
  width: number;
  /** NaN if the mask forbids the cell. */
  numbers: Float32Array;
  /** The numbers of each head, if there are several. */
  per_head: Float32Array[];
  /** FORBIDDEN, SHOWN or LEFT_OUT for each cell. */
  states: Uint8Array | null;
  signed: boolean;
  scale: Scale;
  /** The numbers at the two ends of the colour scale. */
  low: number;
  high: number;
  /** The rule that set `high`, if the colours are fitted to the shown numbers. */
  fitted?: ColourRangeRow;
  /** Whether these are the exact numbers, not decoded byte codes. */
  exact: boolean;
  quantity: QuantityRow;
  /** Descriptions of all steps that made the matrix. */
  rules: string[];
  rowOf: Map<number, number>;
  columnOf: Map<number, number>;
}

/** All routes of all pages. */
export type Routes = CompareRoutes &
  CourseRoutes &
  LessonRoutes &
  ExploreRoutes &
  ExportRoutes &
  GenerateRoutes &
  ContractRoutes &
  RoomRoutes;

/** The routes that make files. */
export type FileRoute = {
  [Name in keyof Routes]: Routes[Name]["answer"] extends FileAnswer ? Name : never;
}[keyof Routes];

/** An answer, or a refusal in its place. */
export type Refusable<Said> = Said & Partial<Refusal>;

/** The answer to a question about what is on the screen. */
export interface Found<Said = object> {
  meta: Refusable<Said>;
  numbers: Float32Array<ArrayBuffer>;
  /** Built from the numbers once. */
  matrix?: HeadMatrix;
}

/** The fields of a request besides the question on the screen. */
export type Details<Asked> = Omit<Asked, "question" | "client_id" | "request_number">;

/** The routes that drawings of heads use. */
export type HeadRoutes = Pick<ExploreRoutes, "head_view" | "head_metrics" | "query_key_weights" | "qk_projection">;

/** The source of answers: the network, the browser itself, or a saved page. */
export interface Server {
  /** Whether it answers a route; what needs another one is left out. */
  answers(route: string): boolean;
  /** The answer of a route; null until it arrives, which redraws the page. `wait` is in milliseconds. */
  get<Name extends keyof HeadRoutes>(
    route: Name,
    details: Details<HeadRoutes[Name]["request"]>,
    wait?: number,
  ): Found<HeadRoutes[Name]["answer"]> | null;
  /** The byte codes of one layer of a group whose heads are sent later; null if they are no longer needed. */
  getLayerCodes(group: AttentionGroup, layer: number): Promise<Uint8Array | null>;
  /** The name of the image that was read. */
  imageName(): string;
  imageUrl(name: string): string;
}

/** What is on the screen. */
export interface View {
  readonly elements: HeadElements;
  /** Redraws the open parts; `fresh` after a new answer or other colours, not if only a choice has changed. */
  redraw(fresh?: boolean): void;
  /** Call when the pointer is over other tokens: redraws only marks, if that is enough. */
  markPointer(): void;
}

/** A page, for all code that draws or controls heads: the choices and the answer, the screen, and the server. */
export interface Page {
  readonly state: State;
  readonly view: View;
  readonly server: Server;
  /** The only way to change a choice. */
  change(patch: Partial<DisplayChoice>): void;
}

/** Elements of heads_tab.html, and of the page around it. */
type HeadElements = ReturnType<typeof headElements>;

/** The current colours and font, and the factor of the font size. */
export interface CanvasStyle {
  ink: string;
  quiet: string;
  line: string;
  beam: string;
  minus: string;
  surface: string;
  raised: string;
  font: string;
  type: number;
}

/** One way to draw a matrix. */
export interface Plot {
  /** The element to draw on; by default the canvas. */
  element?: "prose" | "sheet";
  /** The route without whose answer there is no such plot. */
  needs?: keyof HeadRoutes;
  draw(page: Page, matrix: HeadMatrix, width: number, canvas: HTMLCanvasElement): void;
  /** Repaints only marks. */
  mark?(page: Page, matrix: HeadMatrix): void;
  /** The tokens under the pointer. */
  tokenAt(page: Page, event: MouseEvent, click?: boolean): Pointer | null;
  /** The number of tokens that an arrow key moves by. */
  arrowStep?(page: Page, key: string): number;
  scaleText?(matrix: HeadMatrix): string;
}

/** The JSON of a saved page; `saved_views` are packed answers, as base64, by their route and question. */
export interface SavedPage extends Omit<Answer, "bytes" | "maskable">, Catalogue {
  state: Partial<DisplayChoice>;
  saved_views: Record<string, string>;
  provenance_parts: string[];
}

/** "head-title" becomes "headTitle". */
export type CamelCase<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;
