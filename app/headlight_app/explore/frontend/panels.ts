// The module that draws each panel of Explore, by the name of its row of TABS in Python.

export { default as heads } from "../../ui/frontend/heads/heads_tab.ts";
export { default as layers } from "./layers/layers_tab.ts";
export { default as tokens } from "./tokens/tokens_tab.ts";
export { default as walkthrough } from "./walkthrough/walkthrough_tab.ts";
