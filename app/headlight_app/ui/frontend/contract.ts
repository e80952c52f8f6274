// Written from headlight_app/contract by app/contract_types.py.

/** The parts that replace a model's own, by their registry names; an empty one stays as trained. */
export interface Variant {
  masks: string;
  positional_encoding: string;
  attention_function: string;
  scale: string;
  pooling: string;
}

/** The settings that determine an answer, besides model and texts. `image` is a picture's name; empty is the first. */
export interface Asked {
  image: string;
  text_pair: string;
  chat: string;
  variant: Variant;
  device: string;
  measure: string;
  edits: string[];
  patch_from: string;
  masked_positions: number[];
}

/** Everything that determines what a model computes: equal questions have equal answers. */
export interface Question extends Asked {
  model: string;
  text: string;
  source: string;
}

/** A request to the engine, named by its `route`, which may take `seconds`. */
export interface Request {
  client_id?: string;
  request_number?: number;
}

/** A request about one question. */
export interface QuestionRequest extends Request {
  question: Question;
}

/** The choices about heads. */
export interface HeadChoice extends Asked {
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
}

/** The state of the page. `text` and `source` are None until the visitor types. */
export interface State extends HeadChoice {
  model: string;
  text: string | null;
  source: string | null;
  tab: string;
  step: string;
  analysis: string;
  lens: string;
  least_share: number;
  patch: "direct_heads" | "heads" | "k" | "q" | "residual" | "v";
  neuron: string;
  token_ids: string;
  disabled_edits: string[];
  task: string;
  beam_width: number;
  sampling: string;
  generated: string;
  blend: "all" | "head" | "layer";
  side_b: string;
  channels: number[];
  position: number;
  bias_head: number;
  order_text: string;
  chapter: string;
  screen: string;
  course_inputs: string;
  lesson: string;
  notes: string;
  lesson_step: string;
  lesson_work: string;
  presenter: string;
  embedded: string;
}

/** How to sample: temperature 0 takes the likeliest token; `top_k` 0 and `top_p` 1 keep all tokens. */
export interface Sampling {
  temperature: number;
  top_k: number;
  top_p: number;
  seed: number;
}

/** The parts of a Variant that were chosen for B; an empty part is B's model as trained. */
export interface VariantDifference {
  masks?: string;
  positional_encoding?: string;
  attention_function?: string;
  scale?: string;
  pooling?: string;
}

/** The choices for side B; unset fields are as in side A. */
export interface Difference {
  model?: string;
  text?: string;
  source?: string;
  variant: VariantDifference;
  edits?: string[];
  masked_positions?: number[];
  alignment?: string;
  layer?: number;
  head?: number;
  head_chosen?: string;
}

/** A token as the model reads it; `end` is the offset of its end in the text, in UTF-16 code units. */
export interface Token {
  text: string;
  id: number;
  special: boolean;
  masked: boolean;
  end: number;
  role?: "" | "assistant" | "system" | "template" | "user";
}

/** One kind of attention in one stack. The byte codes of its heads begin at `offset`, [layer head row column]. */
export interface AttentionGroupAnswer {
  name: string;
  stack: string;
  kind: string;
  title: string;
  layers: number;
  heads: number;
  queries: "source" | "text";
  keys: "source" | "text";
  rows: number;
  columns: number;
  pooled_shape: [number, number];
  offset: number;
  ablations: Record<string, [number, number][]>;
  metrics: Record<string, (number | null)[]> | null;
  has_segments: boolean;
  pending: boolean;
  faded: [number, number][];
  aligned: [number, number][];
  faded_offset: number;
  shows: string;
}

/** The patches of an image; `side` says whether the image is the text or the source. */
export interface Patches {
  side: "source" | "text";
  rows: number;
  columns: number;
  first_token: number;
  region: [number, number, number, number];
}

/** The frames of a sound, and its spectrogram; `side` says whether the sound is the text or the source. */
export interface Sound {
  side: "source" | "text";
  frames_read: number;
  frame_seconds: number;
  seconds: number;
  bins: number;
  steps: number;
  bytes: string;
}

/** A candidate token (or label): its text with white space, and its number before and after the changes. */
export interface Candidate {
  text: string;
  id: number;
  before: number;
  after: number;
  score?: number | null;
}

/** The prediction at one position; the page shows `title`, `preposition` and the token at the position. */
export interface Prediction {
  position: number;
  title: string;
  preposition: string;
  token_text: string | null;
  candidates: Candidate[];
  problem_type?: "multi-label" | "regression" | "single-label";
  lesson?: string;
}

/** An example: its texts, a hint on what to look at, a suitable order of heads, a query and a key. */
export interface ExampleAnswer {
  text: string;
  source: string;
  hint: string;
  sort: string;
  query: string;
  key: string;
}

/** A quantity of a head, such as its weights or scores; an additive one can be summed over cells. */
export interface QuantityRow {
  name: string;
  title: string;
  description: string;
  scale: "linear" | "probability" | "sqrt";
  additive: boolean;
}

/** An order of heads that is not a metric; `title` has the placeholders {query} and {key} for tokens. */
export interface HeadOrderRow {
  name: string;
  title: string;
  lesson: string;
}

/** A metric of heads; `reads` is "text" for heads that read a text or sound frames, or "image". */
export interface MetricRow {
  reads: "image" | "text";
  name: string;
  title: string;
  description: string;
  unit: string;
  elsewhere: string;
}

/** A way to draw a head; `reads` is the input that the model must have for it, or empty. */
export interface PlotRow {
  name: string;
  title: string;
  description: string;
  reads: "" | "image" | "sound" | "text";
}

/** The colour scale ends at this quantile of the shown weights; None: at 1. */
export interface ColourRangeRow {
  name: string;
  title: string;
  description: string;
  quantile: number | null;
}

/** An operation of edits. */
export interface EditOperationRow {
  name: string;
  title: string;
  description: string;
  takes_number: boolean;
  hook_points: string[];
}

/** An edit in words. */
export interface EditSentenceRow {
  text: string;
  operation: string;
  indices: string[];
  number: number | null;
}

/** A value of the network that edits can change. */
export interface HookPointRow {
  axes: string[];
  title: string;
  edited_in: ("attention" | "feed_forward" | "layer" | "stack")[];
  edit_sentences: EditSentenceRow[];
}

/** The choices of the registries. */
export interface Catalogue {
  quantities: QuantityRow[];
  head_orders: HeadOrderRow[];
  metrics: MetricRow[];
  plots: PlotRow[];
  colour_ranges: ColourRangeRow[];
  operations: EditOperationRow[];
  hook_points: Record<string, HookPointRow>;
}

/** A replaceable part of a model: its title, and the titles of its choices by name. */
export interface PartChoices {
  title: string;
  names: Record<string, string>;
}

/** A mask's argument after the colon: its title, its default, its control, and the limits of a number. */
export interface MaskArgument {
  title: string;
  default: string;
  control: "cells" | "number";
  limits: [number, number];
}

/** What can be replaced in any model: the parts by field of Variant, and the masks that only a link can select. */
export interface VariantChoices {
  parts: Record<string, PartChoices>;
  unlisted_masks: Record<string, string>;
  mask_arguments: Record<string, MaskArgument>;
}

/** A part of the program: its title, its LaTeX formula (may be empty), and its source. */
export interface CodeSection {
  title: string;
  formula: string;
  code: string;
}

/** A box: its title, short lines of details, and the shape of its output. Its kind sets what a click opens. */
export interface DiagramPart {
  kind: string;
  title: string;
  details: string[];
  shape: number[];
}

/** A branch of the residual stream; its output is `added` to the stream or replaces it. */
export interface SublayerDiagram {
  kind: string;
  parts: DiagramPart[];
  added: boolean;
  norm: DiagramPart | null;
  norm_on_stream: "" | "after" | "before";
}

/** An encoder or a decoder, shown with the block of one `layer`. */
export interface StackDiagram {
  name: string;
  title: string;
  inputs: DiagramPart[];
  positions: DiagramPart | null;
  after_positions: DiagramPart[];
  layers: number;
  layer: number;
  sublayers: SublayerDiagram[];
  parallel: boolean;
  outputs: DiagramPart[];
  residual_shape: number[];
}

/** The stacks in running order, and the output head of the last one. */
export interface ModelDiagramAnswer {
  stacks: StackDiagram[];
  head: DiagramPart[];
}

/** The shape of each array, in the order of the binary numbers. */
export interface ArraysAnswer {
  shapes: Record<string, number[]>;
}

/** An error sentence instead of an answer. */
export interface Refusal {
  error: string;
}

/** A newer question has replaced this one. */
export interface Replaced {
  superseded: boolean;
}

/** A file's name and media type; its bytes follow as the binary part. */
export interface FileAnswer {
  name: string;
  type: string;
}

/** The name of an uploaded picture or recording, for later requests. */
export interface ImageAnswer {
  name: string;
}

/** A sentence on why this visitor's question is still waiting; empty if it is not. */
export interface WaitingAnswer {
  sentence: string;
}

/** Requests rows of views; `choice` has the fields that they read. */
export interface RowsRequest extends QuestionRequest {
  choice?: Partial<State>;
  with_tables?: boolean;
}

/** Rows of views, each view with its `digest`; of one that the browser shows already, only that is sent. */
export interface ViewsAnswer {
  rows: Record<string, unknown>[];
  title: string;
  about: string;
  program: Record<string, unknown>;
}

/** The views of a page; `known` are the digests of those that the browser shows. */
export interface ViewsRequest extends RowsRequest {
  page: string;
  known?: string[];
}

/** The request and the answer of each route. */
export interface ContractRoutes {
  views: { request: ViewsRequest; answer: ViewsAnswer };
}

export const AS_TRAINED: Variant = {
  masks: "",
  positional_encoding: "",
  attention_function: "",
  scale: "",
  pooling: "",
};
export const QUESTION_FIELDS = [
  "image",
  "text_pair",
  "chat",
  "variant",
  "device",
  "measure",
  "edits",
  "patch_from",
  "masked_positions",
  "model",
  "text",
  "source",
] as const;
export const OWN_IMAGE_PREFIX = "own-";
export const MAX_IMAGE_BYTES = 8388608;
export const IMAGE_TOO_LARGE = "A picture or a sound may have at most 8 MB; make this one smaller.";
export const DEFAULT_STATE: State = {
  image: "",
  text_pair: "",
  chat: "",
  variant: { masks: "", positional_encoding: "", attention_function: "", scale: "", pooling: "" },
  device: "auto",
  measure: "",
  edits: [],
  patch_from: "",
  masked_positions: [],
  attention: "",
  layer: -1,
  head: -1,
  heads: [],
  sort: "layer",
  quantity: "weights",
  other_head: "",
  other_text: "",
  head_reduction: "mean",
  unit: "tokens",
  top_mass: 100,
  hide: "",
  renormalize: "",
  segments: "",
  zoom: "",
  plot: "",
  panel_size: "panel",
  colour_range: "full",
  query: -1,
  key: -1,
  pinned: [],
  target_token: -1,
  model: "",
  text: null,
  source: null,
  tab: "heads",
  step: "",
  analysis: "logit_lens",
  lens: "",
  least_share: 4,
  patch: "heads",
  neuron: "",
  token_ids: "",
  disabled_edits: [],
  task: "",
  beam_width: 1,
  sampling: "",
  generated: "",
  blend: "head",
  side_b: "",
  channels: [],
  position: -1,
  bias_head: -1,
  order_text: "",
  chapter: "",
  screen: "",
  course_inputs: "",
  lesson: "",
  notes: "",
  lesson_step: "",
  lesson_work: "",
  presenter: "",
  embedded: "",
};
export const STATE_TEXTS = ["text", "source", "text_pair", "other_text", "patch_from", "order_text"] as const;
export const MAX_ADDRESS_LENGTH = 1500;
export const MAX_KNOWN = 1000;
export const HINT = "?";
export const GIVE_UP = "!";
export const CHECK = "check";
