// Written from headlight_app/explore/contract.py by app/contract_types.py.

import type {
  ArraysAnswer,
  AttentionGroupAnswer,
  Catalogue,
  CodeSection,
  ExampleAnswer,
  FileAnswer,
  HeadChoice,
  Patches,
  Prediction,
  Question,
  QuestionRequest,
  RowsRequest,
  Sound,
  State,
  Token,
  VariantChoices,
} from "../../ui/frontend/contract.ts";
import type { ProgramAnswer } from "../../ui/frontend/export/contract.ts";

/** A request about a question at one position; -1 is the last. */
export interface QueryRequest extends QuestionRequest {
  query?: number;
}

/** A request about one possible answer at a position, a token or a label; -1 is the likeliest. */
export interface TargetRequest extends QueryRequest {
  token?: number;
}

/** A replaced part of the model: its Variant field, its title, and its names before and after. */
export interface PartDifference {
  field: string;
  title: string;
  was: string;
  now: string;
}

/** Everything Explore paints after a keystroke; the numbers are the byte codes of each attention group in turn. */
export interface TraceAnswer {
  tokens: Token[];
  source_tokens: Token[] | null;
  maskable: boolean;
  context: number;
  patches: Patches | null;
  sound: Sound | null;
  attention_groups: AttentionGroupAnswer[];
  predictions: Prediction[];
  changed: boolean;
  differences: PartDifference[];
  no_prediction_reason: string;
  notes: string[];
  question: Question;
  query: number;
  milliseconds: number;
  made_text: string;
}

/** All heads as bytes, tokens and predictions. With `writes_target`, the model generates the target text itself. */
export interface TraceRequest extends QueryRequest {
  writes_target?: boolean;
}

/** The shape of the float32 numbers of one head. */
export interface HeadMatrixAnswer {
  rows: number;
  columns: number;
}

/** The exact numbers of one head at one hook point of an attention, [query key], row by row. */
export interface HeadMatrixRequest extends QuestionRequest {
  path: string;
  head?: number;
}

/** The rows or columns of a view: their labels, and the tokens that each covers. */
export interface MatrixAxis {
  labels: string[];
  tokens: number[][];
}

/** How to draw a view, from `low` to `high`. Float32 numbers [row column], `per_head` heads and cell states follow. */
export interface HeadViewAnswer {
  rows: MatrixAxis;
  columns: MatrixAxis;
  signed: boolean;
  scale: "linear" | "probability" | "sqrt";
  low: number;
  high: number;
  per_head: number;
  rules: string[];
}

/** A request about the chosen heads. */
export interface ChoiceRequest extends QuestionRequest {
  choice: Partial<HeadChoice>;
}

/** The view of the chosen heads; `per_head` also requests each head separately. */
export interface HeadViewRequest extends ChoiceRequest {
  per_head?: boolean;
}

/** The layer, and how many cells the byte codes of each of its heads have. */
export interface ThumbnailsAnswer {
  layer: number;
  pooled_shape: [number, number];
}

/** The byte codes of all heads of one layer of a long text, [head row column]. */
export interface ThumbnailsRequest extends QuestionRequest {
  attention?: string;
  layer?: number;
}

/** The number of query points, and the share of the variance that each axis explains. */
export interface QkProjectionAnswer {
  queries: number;
  explained_variance: [number, number];
}

/** Queries, then keys of a head projected to two dimensions, float32 [token axis]. */
export interface QkProjectionRequest extends QuestionRequest {
  attention?: string;
  layer?: number;
  head?: number;
}

/** Every metric of every head, layer after layer. */
export interface HeadMetricsAnswer {
  metrics: Record<string, (number | null)[]>;
}

/** The metrics of all heads of one attention, for texts too long to include them in every answer. */
export interface HeadMetricsRequest extends QuestionRequest {
  attention?: string;
}

/** The numbers are float32 [layer head], NaN if the mask forbids the key. */
export type QueryKeyWeightsAnswer = object;

/** The weight from one query to one key in all heads of one attention. */
export interface QueryKeyWeightsRequest extends QuestionRequest {
  attention?: string;
  query: number;
  key: number;
}

/** A value of one step; its numbers follow those of the previous value. */
export interface StepValueAnswer {
  symbol: string;
  axis: string | null;
  count: number;
}

/** The axes of a recorded value, and their sizes. */
export interface StepShape {
  hook_point: string;
  axes: string[];
  sizes: number[];
}

/** One step of the chosen head, or of the prediction. */
export interface StepAnswer {
  name: string;
  title: string;
  explanation: string;
  part: "head" | "network" | "prediction";
  formula: string;
  edited: boolean;
  shapes: StepShape[];
  values: StepValueAnswer[];
}

/** A token or label: its id and its text. */
export interface NamedAnswer {
  id: number;
  text: string;
}

/** The steps, and the likeliest answers with the index of the chosen one: -1 if there is no prediction. */
export interface WalkthroughAnswer {
  query: number;
  key: number;
  answer: number;
  answers: NamedAnswer[];
  steps: StepAnswer[];
}

/** The steps of one head between two tokens, then those of the prediction; a `key` of -1 is the most attended. */
export interface WalkthroughRequest extends TargetRequest {
  attention?: string;
  head?: number;
  key?: number;
}

/** Lines of the executed program, and their location. */
export interface CodeExcerptAnswer {
  location: string;
  code: string;
}

/** The lines of code of each step, by the step's name. */
export interface StepCodeAnswer {
  code: Record<string, CodeExcerptAnswer[]>;
}

/** The lines of code of each step of an attention and of the prediction. */
export interface StepCodeRequest extends QuestionRequest {
  attention?: string;
}

/** Rows of views, as in `headlight.views`; they are passed on unchanged. */
export interface AnalysisAnswer {
  rows: Record<string, unknown>[];
}

/** A part of an analysis of the table; `choice` has the fields that its row reads. */
export interface AnalysisPartRequest extends RowsRequest {
  analysis: string;
}

/** What an analysis shows at once. */
export type AnalysisRequest = AnalysisPartRequest;

/** What an analysis shows after seconds. */
export type LongAnalysisRequest = AnalysisPartRequest;

/** The views after a step; the next request sends `progress` back, until the share that is `done` is 1. */
export interface AnalysisStepAnswer extends AnalysisAnswer {
  progress: string;
  done: number;
  words: string;
}

/** The next step of an analysis that runs step by step; `progress` is empty at the first. */
export interface AnalysisStepRequest extends AnalysisPartRequest {
  progress?: string;
}

/** A column of texts beside the layers, `embedding` before the first. The title may have several lines. */
export interface LayerColumn {
  title: string;
  embedding: string;
  layers: string[];
  align: "end" | "start";
}

/** The columns, and `rule`, which says what they are; empty if there are none. */
export interface LayerNumbersAnswer {
  columns: LayerColumn[];
  rule: string;
}

/** What each layer predicts, and what its parts add to the logit of an answer. */
export type LayerNumbersRequest = TargetRequest;

/** A component that contributes to a logit: a head, a feed-forward, an embedding, biases. */
export interface ComponentAnswer {
  kind: string;
  layer: number;
  head: number;
}

/** The contribution of each component to the logit of the answer `text`. */
export interface LogitAttributionAnswer {
  position: number;
  token: number;
  text: string;
  logit: number;
  components: ComponentAnswer[];
}

/** The contribution of each part to the logit of an answer. */
export type LogitAttributionRequest = TargetRequest;

/** The vectors of the tokens from `first` on, as they enter the first layer of a stack. */
export interface InputVectorsAnswer extends ArraysAnswer {
  first: number;
  title: string;
  places: "" | "added" | "rotated" | "scores";
}

/** The input of the first layer of a stack: a vector for each token, and its position. */
export interface InputVectorsRequest extends QuestionRequest {
  stack?: string;
}

/** An attention function, and whether scaling its scores acts as a temperature. */
export interface AttentionFunctionRow {
  name: string;
  has_temperature: boolean;
}

/** An analysis: what it reads of the choice, and its lesson, empty if it depends on the model. */
export interface AnalysisRow {
  name: string;
  title: string;
  lesson: string;
  reads: string[];
  reads_head_of: string[];
  long_reads: string[];
  routes: string[];
  pause_at_once: number;
  pause: number;
  start: string;
  of_unpatched: boolean;
  of_likeliest: boolean;
}

/** A head of the attention with the name `attention`. */
export interface TourHead {
  attention: string;
  layer: number;
  head: number;
}

/** The heads that the guided tour switches off, and the position of its answer; -1 is the predicted one. */
export interface Tour {
  heads: TourHead[];
  query: number;
}

/** The page before the first answer. */
export interface ExplorePageAnswer {
  examples: ExampleAnswer[];
  opening: ExampleAnswer;
  default_head: [number, number];
  opening_head: [number, number];
  default_attention: string;
  tour: Tour;
  large_change: number;
  has_source: boolean;
  reads_pair: boolean;
  reads_chat: boolean;
  has_feed_forward: boolean;
  writes_target: boolean;
  images: string[] | null;
  hears: boolean;
  attention_functions: AttentionFunctionRow[];
  analyses: AnalysisRow[];
  variants: VariantChoices;
  catalogue: Catalogue;
}

/** The labels of a chart's rows or columns, and the first position of each. */
export interface ChartAxis {
  labels: string[];
  positions: number[];
}

/** The chosen heads as a chart; its numbers are float32 [row column], NaN in cells that are not shown. */
export interface HeadChart {
  title: string;
  quantity: string;
  rows: ChartAxis;
  columns: ChartAxis;
  limits: [number, number];
  signed: boolean;
  square_root_scale: boolean;
  rules: string[];
}

/** Predictions over `answers` ("all labels"), and the chosen heads: None if there are none to show. */
export interface ExploreChartsAnswer {
  predictions: Prediction[];
  changed: boolean;
  answers: string;
  head: HeadChart | null;
}

/** The parts that computed an answer. */
export interface SourceCodeAnswer {
  sections: CodeSection[];
}

/** A request about the current view: the question, and the page state in which its answer is shown. */
export interface StateRequest extends QuestionRequest {
  state: Partial<State>;
}

/** A file of numbers: the value at `path`, or the displayed view if `path` is empty. */
export interface ExportNumbersRequest extends StateRequest {
  format: string;
  path?: string;
}

/** All heads and the displayed view with its exact numbers, as one HTML file that works offline. */
export interface ExportPageRequest extends StateRequest {
  view_key?: string;
}

/** The view as a printable page for a class. */
export interface ExportWorksheetRequest extends StateRequest {
  figure: string;
  link: string;
  line: string;
  omitted?: string;
}

/** The view as a Python program and as shell commands. */
export type ExportCodeRequest = StateRequest;

/** The request and the answer of each route. */
export interface ExploreRoutes {
  trace: { request: TraceRequest; answer: TraceAnswer };
  head_matrix: { request: HeadMatrixRequest; answer: HeadMatrixAnswer };
  head_view: { request: HeadViewRequest; answer: HeadViewAnswer };
  thumbnails: { request: ThumbnailsRequest; answer: ThumbnailsAnswer };
  qk_projection: { request: QkProjectionRequest; answer: QkProjectionAnswer };
  head_metrics: { request: HeadMetricsRequest; answer: HeadMetricsAnswer };
  query_key_weights: { request: QueryKeyWeightsRequest; answer: QueryKeyWeightsAnswer };
  walkthrough: { request: WalkthroughRequest; answer: WalkthroughAnswer };
  step_code: { request: StepCodeRequest; answer: StepCodeAnswer };
  analysis: { request: AnalysisRequest; answer: AnalysisAnswer };
  long_analysis: { request: LongAnalysisRequest; answer: AnalysisAnswer };
  analysis_step: { request: AnalysisStepRequest; answer: AnalysisStepAnswer };
  layer_numbers: { request: LayerNumbersRequest; answer: LayerNumbersAnswer };
  logit_attribution: { request: LogitAttributionRequest; answer: LogitAttributionAnswer };
  input_vectors: { request: InputVectorsRequest; answer: InputVectorsAnswer };
  export_numbers: { request: ExportNumbersRequest; answer: FileAnswer };
  export_page: { request: ExportPageRequest; answer: FileAnswer };
  export_worksheet: { request: ExportWorksheetRequest; answer: FileAnswer };
  export_code: { request: ExportCodeRequest; answer: ProgramAnswer };
}
