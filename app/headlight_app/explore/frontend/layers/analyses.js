// The module that draws each analysis of the panel Layers, by the name of its row of ANALYSES in Python.

export { default as head_ablation } from "./ablation/ablation.js";
export { default as head_removal } from "./ablation/head_removal.js";
export { default as head_search } from "./ablation/head_search.js";
export { default as experts } from "./experts/experts.js";
export { default as information_flow } from "./information_flow/information_flow.js";
export { default as logit_attribution } from "./logit_attribution.js";
export { default as logit_lens } from "./logit_lens.js";
export { default as patching } from "./patching/patching.js";
export { default as token_rankings } from "./token_rankings.js";
