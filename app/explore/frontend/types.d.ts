// What Python sends to Explore, and what its page works on.

import type {
  Answer,
  Candidate,
  Catalogue,
  Found,
  Head,
  HeadChoice,
  HeadElements,
  Page,
  Question,
  Routes,
  Server,
  View,
  Words,
} from "../../../model/rendering/static/types.js";
import type { Packed } from "../../../model/rendering/static/ui/wire.js";
import type { Reporter } from "../../ui/frontend/bridge.js";
import type { ShownDrawing } from "../../ui/frontend/export/types.js";
import type { ModelDiagram } from "../../ui/frontend/model_diagram/types.js";
import type { ExploreState } from "./state.js";

/** All that can be chosen on this page; the fields of `State` in Python, of the same names. */
export interface Choice extends HeadChoice {
  text: string;
  source: string;
  image: string;
  masks: string;
  positional_encoding: string;
  attention_function: string;
  scale: string;
  pooling: string;
  tab: string;
  step: string;
  analysis: string;
  /** The layer whose neurons are open, and one of them: "3", "3.120". */
  neuron: string;
  /** "1": under each token its number in the vocabulary. */
  token_ids: string;
  /** Of the page Tasks: which one, and how many beams its search keeps. */
  task: string;
  beam_width: number;
  disabled_edits: string[];
  presenter: string;
  embedded: string;
}

/** What was chosen as Streamlit and links say it: a text that the model writes is null. */
export type ToldChoice = Omit<Choice, "text"> & { text: string | null };

/** What the sidebar alone chooses. */
export interface Settings {
  model: string;
  device: string;
}

export interface Example {
  text: string;
  source: string;
  sort: string;
  hint: string;
  query: string;
  key: string;
}

/** A row of TABS in Python; `module` is a path from the project's folder. */
export interface TabRow {
  name: string;
  title: string;
  module: string;
}

/** A row of ANALYSES in Python: whether there is an answer, and an attention, to choose, or the likeliest answer is meant. */
export interface AnalysisRow extends TabRow {
  has_target: boolean;
  of_likeliest: boolean;
  has_attention: boolean;
}

export interface ExploreCatalogue extends Catalogue {
  tabs: TabRow[];
  analyses: AnalysisRow[];
  /** Whether scores times a factor are another temperature. */
  attention_functions: { name: string; has_temperature: boolean }[];
  /** Names of images; null for a model of texts. */
  images: string[] | null;
  examples: Example[];
  /** What stands there where nobody typed; an encoder-decoder has written its text for the source. */
  opening: Example;
  has_source: boolean;
  has_feed_forward: boolean;
  /** Whether the model can write the target itself. */
  writes_target: boolean;
  /** Layer and head that pages begin with. */
  default_head: [number, number];
  /** What a link says of the sidebar: nothing of a model that nobody chose. */
  link_settings: Settings;
  /** What a link leaves out, and how many characters of text it may hold. */
  link_defaults: Record<string, unknown>;
  longest_link: number;
  /** Whether the server has what it needs to write PDF. */
  writes_pdf: boolean;
  own_image_prefix: string;
  room_address: string;
}

/** What Streamlit says. */
export interface ExploreData extends ExploreCatalogue {
  api: string;
  state: ToldChoice;
  settings: Settings;
  serial: number;
  /** Milliseconds without a change before Streamlit hears of one. */
  pause: number;
}

/** What the model is asked. */
export interface ModelQuestion extends Question, Settings {
  model: string;
  masks: string;
  positional_encoding: string;
  attention_function: string;
  scale: string;
  pooling: string;
  edits: string[];
  masked_positions: number[];
  query: number;
}

/** Where the text is null, the model writes the target first. */
export type AskedQuestion = Omit<ModelQuestion, "text"> & { text: string | null };

export interface ExploreAnswer extends Answer {
  question: ModelQuestion;
  /** How many tokens the model reads at most. */
  context: number;
  milliseconds: number;
  superseded?: boolean;
  error?: string;
}

/** A value of one step; its numbers follow those of the value before. */
export interface StepValueMeta {
  symbol: string;
  axis: string | null;
  count: number;
}

export interface StepMeta<Value = StepValueMeta> {
  name: string;
  title: string;
  explanation: string;
  /** Whether it is of the chosen head, or of the prediction. */
  part: "head" | "prediction";
  formula: string;
  edited: boolean;
  shapes: { hook_point: string; axes: string[]; sizes: number[] }[];
  values: Value[];
}

/** The likeliest answers and, by its index, the chosen one; none (-1) where no prediction follows the head's steps. */
export interface WalkthroughMeta {
  query: number;
  key: number;
  answer: number;
  answers: { id: number; text: string }[];
  steps: StepMeta[];
}

/** Lines of the program that ran. */
export interface CodePiece {
  location: string;
  code: string;
}

/** A part of a logit: a head, a feed-forward, an embedding, biases. */
export interface ContributionPart {
  kind: string;
  layer: number;
  head: number;
}

export interface PromotedToken {
  text: string;
  logit: number;
}

export interface ContributionsMeta {
  position: number;
  token: number;
  text: string;
  logit: number;
  components: ContributionPart[];
  assumptions: string[];
  promoted: { layer: number; promoted: PromotedToken[]; suppressed: PromotedToken[] }[];
}

/**
 * The logit lens: for each depth and column the likeliest answers with their shares, the rank of the true token and its
 * surprise. A column is a token; where the whole text is labelled, that has one more in front.
 */
export interface LensMeta {
  first: number;
  count: number;
  columns: number;
  depths: number;
  top_k: number;
  targets: number[];
  answer_texts: Record<number, string>;
  predicts_labels: boolean;
  explanation: string;
}

/** The neurons of a feed-forward that add most to an answer's logit, and what the rest adds. */
export interface NeuronsMeta {
  layer: number;
  position: number;
  token: number;
  text: string;
  path: string;
  count: number;
  sum: number;
  bias: number;
  edit: number;
  total: number;
}

/** One of them; its numbers are its activation at each token. */
export interface NeuronMeta {
  layer: number;
  neuron: number;
  activation: number;
  answer_weight: number;
  contribution: number;
  promoted: PromotedToken[];
  suppressed: PromotedToken[];
}

export interface FlowMeta {
  position: number;
  edges: number;
  columns: number;
  edge_kinds: string[];
  layers: number;
  threshold: number;
}

export interface AblationMeta {
  first: number;
  count: number;
  heads: number;
  position: number;
  token: number;
  /** Log-probability with all heads. */
  before: number;
  text: string;
}

/** How an answer stands: its log-probability, how far its logit leads, and which answer is given. */
export interface AnswerLead {
  log_probability: number;
  margin: number;
  likeliest: number;
}

export interface AblatedHead {
  path: string;
  head: number;
  margin: number;
}

/** How far a search has come: `leads` are those before all heads that are off, and after each. */
export interface HeadSearch {
  heads: AblatedHead[];
  leads: AnswerLead[];
  /** Heads tried in the present round. */
  tested: number;
  best: AblatedHead | null;
  stuck: boolean;
}

export interface HeadSearchMeta {
  search: HeadSearch;
  position: number;
  /** How many heads the model has, and how many may be switched off. */
  heads: number;
  most: number;
  done: boolean;
  changed: boolean;
  /** The answer that is searched, and the one that is given now. */
  text: string;
  likeliest: string;
}

/** What each route says about the question on the screen. */
export interface ExploreRoutes extends Routes {
  walkthrough: WalkthroughMeta;
  step_code: { code: Record<string, CodePiece[]> };
  logit_lens: LensMeta;
  residual_norms: { depths: number; tokens: number };
  negative_log_likelihood: { first: number; count: number; shifted: boolean };
  logit_attribution: ContributionsMeta;
  neurons: NeuronsMeta;
  neuron: NeuronMeta;
  information_flow: FlowMeta;
  model_diagram: ModelDiagram;
  token_labels: TokenLabelsMeta;
  label_effects: LabelEffectsMeta;
  beam_search: BeamSearchMeta;
}

/** The likeliest labels of each token, and the label that the model as trained gives it. */
export interface TokenLabelsMeta {
  labels: Candidate[][];
  as_trained: string[];
  changed: boolean;
  /** All labels that the model has names for. */
  names: string[];
}

/** The log-odds of a label: its numbers are that of the text, without each token of `positions`, without each head. */
export interface LabelEffectsMeta {
  label: number;
  text: string;
  positions: number[];
  layers: number;
  heads: number;
}

/** A beam after a step: one token after the `parent`th beam of the step before, or that one itself, finished. */
export interface Beam {
  parent: number;
  token: string;
  log_probability: number;
  score: number;
  finished: boolean;
}

export interface BeamSearchMeta {
  steps: Beam[][];
  /** What the last beams say. */
  texts: string[];
  length_penalty: number;
}

/** A file that the server has made. */
export interface FileMeta {
  name: string;
  type: string;
}

export interface ExploreServer extends Server {
  readonly api: string;
  get<Name extends keyof ExploreRoutes>(route: Name, details: object, wait?: number): Found<ExploreRoutes[Name]> | null;
  /** Asks past the memory of what was asked before. */
  post<Meta>(route: string, body: object, signal?: AbortSignal): Promise<Packed<Meta>>;
}

export interface ExploreElements extends HeadElements {
  caption: HTMLElement;
  text: HTMLTextAreaElement;
  source: HTMLTextAreaElement;
  sourceBox: HTMLElement;
  status: HTMLElement;
  /** Lets the model write the target in place of the person's own. */
  writeTarget: HTMLButtonElement;
  tokenIds: HTMLButtonElement;
  examples: HTMLElement;
  hint: HTMLElement;
  problem: HTMLElement;
  notes: HTMLElement;
  answer: HTMLElement;
  board: HTMLElement;
  tabs: HTMLElement;
  edits: HTMLElement;
  changes: HTMLButtonElement;
  latest: HTMLElement;
  undo: HTMLButtonElement;
  redo: HTMLButtonElement;
  gallery: HTMLElement;
  bring: HTMLInputElement;
}

export interface ExploreView extends View {
  readonly elements: ExploreElements;
  /** One for each tab, by its name. */
  readonly panels: Record<string, HTMLElement>;
  /** What stands above the tabs, to be exported; null where nothing does. */
  exportAnswer(): Promise<ShownDrawing> | null;
  drawEdits(): void;
  showProblem(sentence: string): void;
}

export interface ExplorePage extends Page {
  readonly state: ExploreState;
  readonly view: ExploreView;
  readonly server: ExploreServer;
  readonly reporter: Reporter;
  change(patch: Partial<Choice>): void;
}

/** What the module of a tab, or of an analysis, exports by default: it is drawn while it is open. */
export interface Tab {
  draw(page: ExplorePage, fresh: boolean): void;
  markPointer?(page: ExplorePage): void;
  /** What it shows, to be exported. */
  exported?(page: ExplorePage): Promise<ShownDrawing>;
}

/** A control that makes edits, and shows which are made. */
export interface Control {
  element: HTMLElement;
  update(): void;
}

/** What stands in a row among others, with its own update. */
export interface ControlElements {
  elements: HTMLElement[];
  update(): void;
}

/** What an edit is meant for: the path of an attention, and a head of it or nothing for all. */
export interface EditTarget {
  path: string;
  head: string;
}

export interface Menu {
  title: Words;
  controls: Control[];
}

/** A number in a table; null where it is not known yet. */
export interface TableCell {
  value: number | null;
  title: string;
  chosen: boolean;
  layer: number;
  head: number;
  kind?: string;
  testid?: string;
}

export interface TableRow {
  label: string;
  cells: (TableCell | undefined)[];
}

export interface TableActions {
  /** The largest size of a number, which has the strongest colour. */
  most: number;
  read(cell: TableCell | null): void;
  pick(cell: TableCell): void;
}

export interface RankedEntry {
  title: string;
  value: number;
  pick?: () => void;
  total?: boolean;
  chosen?: boolean;
}

/** A share of what a token's residual stream is made of. */
export interface FlowEdge {
  layer: number;
  kind: string;
  target: number;
  source: number;
  share: number;
  heads: { head: number; share: number }[];
  from: Point;
  to: Point;
}

export interface Point {
  x: number;
  y: number;
}

export type { Candidate, Head };
