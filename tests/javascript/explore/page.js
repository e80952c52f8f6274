// A page of Explore without a browser: its state, and the changes that were made.

import { ExploreState } from "../../../app/explore/frontend/state.js";

/** @import { Choice, ExploreAnswer, ExplorePage, Site } from "../../../app/explore/frontend/types.js" */
/** @import { Grid, Token } from "../../../model/rendering/static/types.js" */

/** @type {Choice} */
const CHOICE = {
  attention: "",
  layer: 0,
  head: 0,
  heads: [],
  sort: "layer",
  view: "weights",
  versus: "",
  other: "",
  rule: "mean",
  unit: "tokens",
  mass: 100,
  hide: "",
  rest: "",
  pair: "",
  window: "",
  picture: "map",
  size: "",
  query: -1,
  locked: [],
  target: -1,
  edits: [],
  masked: [],
  text: "",
  source: "",
  image: "",
  masks: "",
  position: "",
  kernel: "",
  scale: "",
  room: "heads",
  step: "",
  panel: "",
  key: -1,
  paused: [],
  presenter: "",
  bare: "",
};

/** @type {Record<string, Site>} */
const SITES = {
  weights: { axes: ["head", "query", "key"], title: "Weights" },
  mask: { axes: ["head", "query", "key"], title: "Mask" },
  scores: { axes: ["head", "query", "key"], title: "Scores" },
  scale: { axes: [], title: "Scale of the scores" },
  output: { axes: ["pos", "width"], title: "What is written" },
  v: { axes: ["key_value_head", "pos", "channel"], title: "Values" },
  embedding: { axes: ["pos", "width"], title: "Embedding" },
};

/**
 * @param {string} piece
 * @returns {Token}
 */
export const token = (piece) => ({ piece, special: false, masked: false, end: 0 });

/** @type {Grid} */
export const GRID = {
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
  cells: [3, 3],
  offset: 0,
  metrics: null,
  pairs: false,
};

/**
 * @param {Partial<Choice>} [choice]
 * @param {Partial<ExploreAnswer>} [answer]
 */
export function createPage(choice = {}, answer = {}) {
  const quantity = {
    name: "weights",
    title: "Weights",
    about: "",
    scale: /** @type {const} */ ("share"),
    additive: true,
  };
  const catalogue = { kinds: [quantity], metrics: [], sites: SITES, pictures: null, examples: [] };
  const state = new ExploreState({ ...CHOICE, ...choice }, catalogue, { model: "tiny", device: "cpu" });
  const tokens = ["The", " dog", " sat"].map(token);
  state.receive(
    /** @type {ExploreAnswer} */ ({
      tokens,
      sourceTokens: null,
      grids: [GRID],
      patches: null,
      predictions: [],
      maskable: false,
      ...answer,
    }),
  );
  /** @type {Partial<Choice>[]} */
  const changes = [];
  const change = (/** @type {Partial<Choice>} */ patch) => {
    const { edits, paused } = state.choice;
    if ("edits" in patch || "paused" in patch) state.history.record({ edits, paused });
    state.update(patch);
    changes.push(patch);
  };
  const page = /** @type {ExplorePage} */ (/** @type {unknown} */ ({ state, change, view: { markPointer: () => {} } }));
  return { page, state, changes };
}
