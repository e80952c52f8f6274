// What Python sends to whatever draws heads, and what those drawings work on.

import type { State } from "./state/state.js";

/** Whose tokens an attention's queries or keys are. */
export type Side = "text" | "source";

/** How numbers become colours: a share of one, a root of what is largest, or as they are. */
export type Scale = "probability" | "sqrt" | "linear";

/** `end` is where the token ends in its text, in units of UTF-16. */
export interface Token {
  text: string;
  /** In the vocabulary; a saved page has none. */
  id?: number;
  special: boolean;
  masked: boolean;
  end: number;
}

/** One kind of attention in one stack. Its heads' byte codes begin at `offset`, [layer head row column] of `cells`. */
export interface Grid {
  name: string;
  stack: string;
  kind: string;
  title: string;
  layers: number;
  heads: number;
  queries: Side;
  keys: Side;
  rows: number;
  columns: number;
  pooled_shape: [number, number];
  offset: number;
  /** The heads, as layer and head, that each edit of the question switches off. */
  ablations?: Record<string, [number, number][]>;
  /** Of each head, layer after layer; null where a text gives a head no occasion, or as a whole while not measured. */
  metrics: Metrics | null;
  /** Whether the text is a pair of sentences. */
  has_segments: boolean;
  /** In the app: the heads of a long text are sent later, a layer at a time. */
  pending?: boolean;
  /** In a saved page: all weights follow the codes as float32. */
  exact?: boolean;
}

export type Metrics = Record<string, (number | null)[]>;

/** A row of HEAD_ORDERS in Python: an order that is no metric's. `title` has {query} and {key} for tokens. */
export interface HeadOrder {
  name: string;
  title: string;
  lesson: string;
}

/** A metric of heads. */
export interface Metric {
  /** What the heads read that it is of. */
  reads: "text" | "image";
  name: string;
  title: string;
  description: string;
  unit: string;
}

/** What can be shown of a head, such as its weights or scores. */
export interface Quantity {
  name: string;
  title: string;
  description: string;
  scale: Scale;
  /** Whether numbers of several cells may be summed. */
  additive: boolean;
}

export interface Candidate {
  id: number;
  text: string;
  before: number;
  after: number;
}

/** What the model says at one position; `preposition` leads from the title to the token, if it is about one. */
export interface Prediction {
  position: number;
  title: string;
  preposition: string;
  token_text: string | null;
  candidates: Candidate[];
}

/** Where the patches of an image lie. `region` is left, top, right, bottom as parts of the image's sides. */
export interface Patches {
  /** Whether the image stands for the text that the prediction is about, or for the source. */
  side: Side;
  rows: number;
  columns: number;
  /** The position of the first patch: before it come class tokens. */
  first_token: number;
  region: [number, number, number, number];
  image?: EmbeddedImage;
}

/** Red, green and blue, deflated, as base64. */
export interface EmbeddedImage {
  height: number;
  width: number;
  bytes: string;
}

/** A text for a model; the app's questions say more. */
export interface Question {
  model?: string;
  text: string;
  source: string;
  image?: string;
}

/** What a model made of a question. */
export interface Answer {
  tokens: Token[];
  source_tokens: Token[] | null;
  question: Question;
  attention_groups: Grid[];
  patches: Patches | null;
  predictions: Prediction[];
  /** Whether there is a before and an after. */
  changed: boolean;
  /** Why there is no prediction. */
  no_prediction_reason?: string;
  notes: string[];
  /** Whether tokens can be masked. */
  maskable: boolean;
  bytes: Uint8Array<ArrayBuffer>;
}

/** What was chosen about heads; the fields of `State` in Python, of the same names. */
export interface HeadChoice {
  attention: string;
  layer: number;
  head: number;
  heads: string[];
  sort: string;
  quantity: string;
  other_head: string;
  other_text: string;
  head_reduction: string;
  unit: string;
  top_mass: number;
  hide: string;
  renormalize: string;
  segments: string;
  zoom: string;
  plot: string;
  panel_size: string;
  colour_range: string;
  query: number;
  key: number;
  pinned: number[];
  target_token: number;
  edits: string[];
  masked_positions: number[];
}

/** What there is to choose from. */
export interface Catalogue {
  quantities: Quantity[];
  head_orders: HeadOrder[];
  metrics: Metric[];
  plots: PlotRow[];
  colour_ranges: ColourRange[];
  operations: EditOperation[];
  hook_points: Record<string, HookPoint>;
}

/** How an edit reads: a row of `EditSentence` in Python. */
export interface EditSentence {
  text: string;
  operation: string;
  indices: string[];
  number: number | null;
}

/** A row of HOOK_POINTS in Python: a value of the network that edits can change. */
export interface HookPoint {
  axes: string[];
  title: string;
  edited_in: ("stack" | "layer" | "attention" | "feed_forward")[];
  edit_sentences: EditSentence[];
}

/**
 * A row of EDIT_OPERATIONS in Python. `title` stands in a menu in front of the number; `description` completes a sentence
 * about the value, with {number}, or {signed} for a number with its sign.
 */
export interface EditOperation {
  name: string;
  title: string;
  description: string;
  takes_number: boolean;
  /** The only hook points that it applies to; none for all. */
  hook_points: string[];
}

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

/** A row of PLOTS in Python; `reads` is what the model must read for it, or "". */
export interface PlotRow {
  name: string;
  title: string;
  description: string;
  reads: "" | "text" | "image";
}

/** A row of COLOUR_RANGES in Python: colours end at this quantile of the weights shown; null: at 1. */
export interface ColourRange {
  name: string;
  title: string;
  description: string;
  quantile: number | null;
}

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

/** Names of rows or columns, and the positions that each stands for. */
export interface MatrixAxis {
  labels: string[];
  tokens: number[][];
}

/** What is asked for to show the selected heads; only what matters, so that equal questions are asked once. */
export interface MatrixQuery {
  attention: string;
  quantity: string;
  layer?: number;
  head?: number;
  heads?: string[];
  head_reduction?: string;
  hide?: string;
  renormalize?: string;
  unit?: string;
  top_mass?: number;
  segments?: string;
  zoom?: string;
  other_head?: string;
  other_text?: string;
  query?: number;
  target_token?: number;
  per_head?: boolean;
}

/** The meta of the route "head_view". */
export interface MatrixMeta {
  rows: MatrixAxis;
  columns: MatrixAxis;
  signed: boolean;
  scale: Scale;
  low: number;
  high: number;
  per_head: number;
  rules: string[];
  error?: string;
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
  fitted?: ColourRange;
  /** Whether these are the numbers themselves, not their byte codes. */
  exact: boolean;
  quantity: Quantity;
  /** Every rule by which it was made. */
  rules: string[];
  rowOf: Map<number, number>;
  columnOf: Map<number, number>;
}

/** The answer to a question about what is on the screen. */
export interface Found<Meta = Record<string, unknown>> {
  meta: Meta & { error?: string };
  numbers: Float32Array<ArrayBuffer>;
  /** Made of the numbers, once. */
  matrix?: HeadMatrix;
}

/** What each route says about the question on the screen. */
export interface Routes {
  head_view: MatrixMeta;
  head_metrics: { metrics: Metrics };
  query_key_weights: object;
  qk_projection: { queries: number; explained_variance: [number, number] };
}

/** Where answers come from: over the network, or out of a saved page. */
export interface Server {
  /** What a route says, or null until it is here: then the page is drawn again. `wait` is in milliseconds. */
  get<Name extends keyof Routes>(route: Name, details: object, wait?: number): Found<Routes[Name]> | null;
  /** The byte codes of one layer of a grid whose heads are sent later; null where they are of no use any more. */
  getLayerCodes(grid: Grid, layer: number): Promise<Uint8Array | null>;
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
  change(patch: Partial<HeadChoice>): void;
}

/** Elements of heads_tab.html, and of the page around it. */
export interface HeadElements {
  root: HTMLElement;
  tokens: HTMLElement;
  sourceTokens: HTMLElement;
  predictions: HTMLElement;
  headsTab: HTMLElement;
  attentions: HTMLElement;
  grid: HTMLElement;
  metrics: HTMLElement;
  title: HTMLElement;
  off: HTMLButtonElement;
  collected: HTMLElement;
  picture: HTMLElement;
  options: HTMLElement;
  optionsButton: HTMLButtonElement;
  grow: HTMLButtonElement;
  trouble: HTMLElement;
  stage: HTMLElement;
  canvas: HTMLCanvasElement;
  prose: HTMLElement;
  sheet: HTMLElement;
  gridScale: HTMLCanvasElement;
  gridHigh: HTMLElement;
  gridNote: HTMLElement;
  sortAgain: HTMLButtonElement;
  pair: HTMLElement;
  pairQuery: HTMLSelectElement;
  pairKey: HTMLSelectElement;
  pairTrouble: HTMLElement;
  legend: HTMLElement;
  low: HTMLElement;
  high: HTMLElement;
  scale: HTMLCanvasElement;
  colourRange: HTMLElement;
  rules: HTMLElement;
  reading: HTMLElement;
}

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
  state: Partial<HeadChoice>;
  saved_views: Record<string, string>;
  provenance_parts: string[];
}
