// What whatever draws heads works on; what the server says is in the contracts.

import type { CompareRoutes } from "../../compare/frontend/contract.js";
import type { CourseRoutes } from "../../course/frontend/contract.js";
import type { ExploreRoutes, HeadViewAnswer, MatrixAxis, TraceAnswer } from "../../explore/frontend/contract.js";
import type { GenerateRoutes } from "../../generate/frontend/contract.js";
import type { LessonRoutes } from "../../lesson/frontend/contract.js";
import type { PositionsRoutes } from "../../positions/frontend/contract.js";
import type { RoomRoutes } from "../../room/frontend/contract.js";
import type { TasksRoutes } from "../../tasks/frontend/contract.js";
import type {
  AttentionGroupAnswer,
  Catalogue,
  ColourRangeRow,
  FileAnswer,
  HeadChoice,
  Patches,
  QuantityRow,
  Question,
  Refusal,
  Token,
} from "./contract.js";
import type { ExportRoutes } from "./export/contract.js";
import type { headElements } from "./heads/heads_tab.js";
import type { State } from "./state/state.js";

export type {
  HeadViewAnswer,
  HeadViewRequest,
  MatrixAxis,
  QkProjectionAnswer,
} from "../../explore/frontend/contract.js";
export type * from "./contract.js";
export type {
  Curve,
  ExportPdfRequest,
  ExportProgramRequest,
  LinkRequest,
  Polyline,
  Stamp,
  TextLine,
} from "./export/contract.js";
export type * from "./export/types.js";

/** Whose tokens an attention's queries or keys are. */
export type Side = AttentionGroupAnswer["queries"];

/** How numbers become colours: a share of one, a root of what is largest, or as they are. */
export type Scale = HeadViewAnswer["scale"];

/** In a saved page all weights may follow the byte codes as float32: they are `exact`. */
export interface AttentionGroup extends AttentionGroupAnswer {
  exact?: boolean;
}

export type Metrics = ExploreRoutes["head_metrics"]["answer"]["metrics"];

/** Where patches lie; in a saved page with the image. */
export interface ShownPatches extends Patches {
  image?: EmbeddedImage;
}

/** Red, green and blue, deflated, as base64. */
export interface EmbeddedImage {
  height: number;
  width: number;
  bytes: string;
}

/** What is drawn of an answer. */
export interface Answer
  extends Pick<
    TraceAnswer,
    "tokens" | "source_tokens" | "predictions" | "changed" | "no_prediction_reason" | "notes" | "maskable"
  > {
  /** Of a trace in a notebook only its texts are known. */
  question: Pick<Question, "text" | "source"> & Partial<Question>;
  attention_groups: AttentionGroup[];
  patches: ShownPatches | null;
  sound: TraceAnswer["sound"];
  bytes: Uint8Array<ArrayBuffer>;
}

/** What was chosen about heads, and what drawings of them tell of the question. */
export type DisplayChoice = Omit<HeadChoice, "image" | "variant" | "device" | "measure">;

/** An edit taken apart; `at` says what is picked along each axis: "3", "2:5", or nothing. */
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

/** Words about an edit: text, and tokens of the sentence. */
export type Words = (string | { token: Pick<Token, "text"> })[];

/** Layer and head. */
export type Head = [layer: number, head: number];

/** A query and a key that it looks at, as positions. */
export interface Pair {
  query: number;
  key: number;
}

/** What the pointer is over, as positions; null where it is over none. */
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
  /** NaN where attending is forbidden. */
  numbers: Float32Array;
  /** The same for each of several heads. */
  per_head: Float32Array[];
  /** FORBIDDEN, SHOWN or LEFT_OUT for each cell. */
  states: Uint8Array | null;
  signed: boolean;
  scale: Scale;
  /** The numbers at the two ends of the colours. */
  low: number;
  high: number;
  /** By what the colours end at `high`, where they are fitted to what is shown. */
  fitted?: ColourRangeRow;
  /** Whether these are the numbers themselves, not their byte codes. */
  exact: boolean;
  quantity: QuantityRow;
  /** Every rule by which it was made. */
  rules: string[];
  rowOf: Map<number, number>;
  columnOf: Map<number, number>;
}

/** What can be asked on any page. */
export type Routes = CompareRoutes &
  CourseRoutes &
  LessonRoutes &
  ExploreRoutes &
  ExportRoutes &
  GenerateRoutes &
  PositionsRoutes &
  RoomRoutes &
  TasksRoutes;

/** The routes that make files. */
export type FileRoute = {
  [Name in keyof Routes]: Routes[Name]["answer"] extends FileAnswer ? Name : never;
}[keyof Routes];

/** What is said in place of an answer, or the answer. */
export type Refusable<Said> = Said & Partial<Refusal>;

/** The answer to a question about what is on the screen. */
export interface Found<Said = object> {
  meta: Refusable<Said>;
  numbers: Float32Array<ArrayBuffer>;
  /** Made of the numbers, once. */
  matrix?: HeadMatrix;
}

/** What a request asks besides the question on the screen. */
export type Details<Asked> = Omit<Asked, "question" | "client_id" | "request_number">;

/** What drawings of heads ask. */
export type HeadRoutes = Pick<ExploreRoutes, "head_view" | "head_metrics" | "query_key_weights" | "qk_projection">;

/** Where answers come from: over the network, or out of a saved page. */
export interface Server {
  /** What a route says, or null until it is here: then the page is drawn again. `wait` is in milliseconds. */
  get<Name extends keyof HeadRoutes>(
    route: Name,
    details: Details<HeadRoutes[Name]["request"]>,
    wait?: number,
  ): Found<HeadRoutes[Name]["answer"]> | null;
  /** The byte codes of one layer of a group whose heads are sent later; null where they are of no use any more. */
  getLayerCodes(group: AttentionGroup, layer: number): Promise<Uint8Array | null>;
  /** The name of the image that was read. */
  imageName(): string;
  imageUrl(name: string): string;
}

/** What is on the screen. */
export interface View {
  readonly elements: HeadElements;
  /** Draws what is open; `fresh` where there is a new answer or other colours, else only a choice has changed. */
  redraw(fresh?: boolean): void;
  /** The pointer is over other tokens: draws only marks, where that is enough. */
  markPointer(): void;
}

/** What draws and controls heads works on a page: what was chosen and answered, what is on the screen, what can be asked. */
export interface Page {
  readonly state: State;
  readonly view: View;
  readonly server: Server;
  /** The one way in which a choice changes. */
  change(patch: Partial<DisplayChoice>): void;
}

/** Elements of heads_tab.html, and of the page around it. */
export type HeadElements = ReturnType<typeof headElements>;

/** The colours and the font in force, and by how much type is enlarged. */
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

/** One way to draw a matrix. `only` for what reads texts or images. */
export interface Plot {
  /** Where it is drawn; on the canvas where nothing else is said. */
  element?: "prose" | "sheet";
  draw(page: Page, matrix: HeadMatrix, width: number, canvas: HTMLCanvasElement): void;
  /** Paints only marks anew. */
  mark?(page: Page, matrix: HeadMatrix): void;
  /** The tokens under the pointer. */
  tokenAt(page: Page, event: MouseEvent, click?: boolean): Pointer | null;
  /** How many tokens further a key leads. */
  arrowStep?(page: Page, key: string): number;
  scaleText?(matrix: HeadMatrix): string;
}

/** What a saved page holds beside its numbers; `views` are packed answers, as base64, by their route and question. */
export interface SavedPage extends Omit<Answer, "bytes" | "maskable">, Catalogue {
  state: Partial<DisplayChoice>;
  saved_views: Record<string, string>;
  provenance_parts: string[];
}

/** "head-title" is headTitle. */
export type CamelCase<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;
