// A page of Explore without a browser: its state, and a record of the changes.

import { ExploreState } from "../../../app/headlight_app/explore/frontend/state.ts";
import { DEFAULT_STATE } from "../../../app/headlight_app/ui/frontend/contract.ts";

/** @import { Choice, ExploreAnswer, ExplorePage } from "../../../app/headlight_app/explore/frontend/types.ts" */
/** @import { AttentionGroup, ColourRangeRow, EditSentenceRow, HookPointRow, Token } from "../../../app/headlight_app/ui/frontend/types.ts" */

/** @type {Choice} */
const CHOICE = { ...DEFAULT_STATE, text: "", source: "", layer: 0, head: 0, plot: "heatmap", analysis: "" };

/** @param {string} text @param {string} operation @param {string[]} indices @param {number | null} number */
const sentence = (text, operation, indices, number) => ({ text, operation, indices, number });
const MATRIX = ["head", "query", "key"];
/** @type {Record<string, [axes: string[], title: string, ...sentences: EditSentenceRow[]]>} */
const ROWS = {
  residual: [["pos", "d_model"], "Residual stream"],
  weights: [
    MATRIX,
    "Weights",
    sentence("Token {query} gives token {key} the weight {number}{inside}", "set", ["query", "key"], null),
    sentence("{heads} off", "set", [], 0),
  ],
  mask: [
    MATRIX,
    "Mask",
    sentence("Token {query} cannot see token {key}{inside}", "set", ["query", "key"], 0),
    sentence("Token {query} cannot see any token{inside}", "set", ["query"], 0),
  ],
  scores: [MATRIX, "Scores", sentence("{place}: softmax temperature × {inverse}", "scale", [], null)],
  scale: [["head"], "Score scale", sentence("{place}: scores without the scale 1/√d", "set", [], 1)],
  neurons: [["pos", "d_ff"], "Neurons", sentence("{place}: {neurons} off", "set", ["d_ff"], 0)],
  output: [["pos", "d_model"], "Output"],
  v: [["key_value_head", "pos", "value_head_dim"], "Values"],
  embedding: [["pos", "d_model"], "Embedding"],
};
/** @type {Record<string, HookPointRow>} */
const HOOK_POINTS = Object.fromEntries(
  Object.entries(ROWS).map(([name, [axes, title, ...edit_sentences]]) => [
    name,
    { axes, title, edited_in: [], edit_sentences },
  ]),
);

/** @param {string} piece @returns {Token} */
export const token = (piece) => ({ text: piece, id: 0, special: false, masked: false, end: 0 });

/** @param {string} name @param {string} title @param {string} description @param {boolean} takes_number */
const operation = (name, title, description, takes_number) => ({
  name,
  title,
  description,
  takes_number,
  hook_points: name === "uniform" ? ["weights"] : [],
});
/** @type {ColourRangeRow[]} */
export const COLOUR_RANGES = [
  { name: "full", title: "0 to 1", description: "", quantile: null },
  { name: "largest", title: "to the largest", description: "scale from 0 to the largest", quantile: 1 },
  { name: "percentile", title: "to the median", description: "scale from 0 to the median", quantile: 0.5 },
];
const OPERATIONS = [
  operation("scale", "times", "× {number}", true),
  operation("set", "set to", "set to {number}", true),
  operation("add", "plus", "{signed}", true),
  operation("mean", "averaged", "averaged", false),
  operation("uniform", "uniform", "every allowed token alike", false),
];

/** @type {AttentionGroup} */
export const GROUP = {
  name: "decoder.self",
  stack: "decoder",
  kind: "self",
  title: "Decoder",
  layers: 2,
  heads: 3,
  queries: "text",
  keys: "text",
  rows: 3,
  columns: 3,
  pooled_shape: [3, 3],
  offset: 0,
  ablations: {},
  metrics: null,
  has_segments: false,
  pending: false,
  faded: [],
  faded_offset: 0,
  shows: "",
  aligned: [],
};

/** @param {Partial<Choice>} [choice] @param {Partial<ExploreAnswer>} [answer] */
export function createPage(choice = {}, answer = {}) {
  const quantity = {
    name: "weights",
    title: "Weights",
    description: "",
    scale: /** @type {const} */ ("probability"),
    additive: true,
  };
  const catalogue = {
    quantities: [quantity],
    head_orders: [{ name: "query_key", title: "attention from “{query}” to “{key}”", lesson: "" }],
    metrics: [],
    analyses: [],
    terms: {},
    variants: { fields: [], trained_models: {}, trained_masks: "causal", mask_arguments: {} },
    plots: [],
    colour_ranges: COLOUR_RANGES,
    hook_points: HOOK_POINTS,
    operations: OPERATIONS,
    tabs: [],
    attention_functions: [],
    images: null,
    hears: false,
    default_head: /** @type {[number, number]} */ ([0, 0]),
    opening_head: /** @type {[number, number]} */ ([0, 0]),
    tour: { heads: [], query: -1 },
    first_tasks: [],
    large_change: 0.2,
    link_settings: { model: "", device: "auto", measure: "" },
    path: "explore",
    own_model: "",
    room_address: "",
    examples: [],
    opening: { text: "", source: "", sort: "layer", hint: "", query: "", key: "" },
    has_source: false,
    reads_pair: false,
    reads_chat: false,
    has_feed_forward: true,
    writes_target: false,
    takes_focus: false,
  };
  const state = new ExploreState({ ...CHOICE, ...choice }, catalogue, { model: "tiny", device: "cpu", measure: "" });
  const tokens = ["The", " dog", " sat"].map(token);
  state.receive(
    /** @type {ExploreAnswer} */ ({
      question: { ...state.question, text: "The dog sat" },
      tokens,
      source_tokens: null,
      attention_groups: [GROUP],
      patches: null,
      sound: null,
      predictions: [],
      maskable: false,
      ...answer,
    }),
  );
  /** @type {Partial<Choice>[]} */
  const changes = [];
  const change = (/** @type {Partial<Choice>} */ patch) => {
    const ofPart = "variant" in patch;
    if (ofPart || "edits" in patch || "disabled_edits" in patch) state.history.record(state.choice, ofPart);
    state.update(patch);
    changes.push(patch);
  };
  const page = /** @type {ExplorePage} */ (
    /** @type {unknown} */ ({ state, change, view: { markPointer: () => {} }, reporter: { flush() {} } })
  );
  return { page, state, changes };
}
