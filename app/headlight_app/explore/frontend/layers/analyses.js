// The modules of the analyses of the panel Layers that have no views, by the names of their rows in Python.

export { default as head_ablation } from "./ablation/ablation.js";
export { default as head_search } from "./ablation/head_search.js";
export { default as information_flow } from "./information_flow/information_flow.js";
export { default as logit_lens } from "./logit_lens.js";
export { default as patching } from "./patching/patching.js";
