// The modules of the analyses of the panel Layers that have no views, by the names of their rows in Python.

export { default as information_flow } from "./information_flow/information_flow.js";
