// The flow graph, token x layer: from the embeddings at the top down to the token of the chosen answer.

import { beginSheet, LABEL_SIZE, PRINT_SHEET } from "../../../../ui/frontend/charts/figure_text.js";
import { paintFigure } from "../../../../ui/frontend/charts/paint_shapes.js";
import { addDrawing, beginFigure, MARGIN } from "../../../../ui/frontend/charts/shapes.js";
import { formatPercent, inlineText, quotedToken } from "../../../../ui/frontend/dom/dom.js";
import { LIST_STEPS } from "../../../../ui/frontend/dom/keyboard.js";
import { createTable } from "../../../../ui/frontend/export/page_export.js";
import { currentStyle } from "../../../../ui/frontend/heads/measurements.js";
import { markTokens } from "../../../../ui/frontend/heads/token_strip.js";
import { remembered } from "../../../../ui/frontend/state/memory.js";
import { runOf } from "../../export/shown_run.js";
import { askFloats } from "../../server.js";
import { answerPosition, layerElement, selectHeadOf, showLayersMessage } from "../layer_panel.js";
import { edgeAt, flowColumns, layoutFlow, readEdges } from "./flow_layout.js";
import { addFlow } from "./flow_painting.js";

/** @import { FlowLayout } from "./flow_layout.js" */
/** @import { ExplorePage, FlowEdge, Found, InformationFlowAnswer, ShownDrawing, Tab } from "../../types.js" */
/** @typedef {FlowLayout & Pick<InformationFlowAnswer, "position" | "layers" | "threshold"> & { hot: number }} FlowGraph hot: the marked edge, or -1 */

const THRESHOLDS = [
  0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8,
];
const USUAL_WIDTH = 600; // pixels, if the frame has no width yet

const memory = remembered((/** @type {ExplorePage} */ _page) => ({
  /** The slider's value, from 1. */
  step: 4,
  /** The answer that was scrolled to. */
  scrolledTo: "",
}));

export default /** @type {Tab} */ ({ draw: drawFlow, exported: exportFlow });

/** @param {ExplorePage} page */
function drawFlow(page) {
  drawThreshold(page);
  const found = page.server.get("information_flow", flowQuery(page));
  if (!found) return;
  const { meta } = found;
  if (meta.error) return showLayersMessage(page, meta.error);
  const width = flowCanvas(page).parentElement?.clientWidth || USUAL_WIDTH;
  const graph = flowGraph(page, found, width, currentStyle(page).type);
  listenToFlow(page, graph);
  markEdge(page, graph, -1);
  scrollToAnswer(page, graph);
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
async function exportFlow(page) {
  const found = await askFloats(page, "information_flow", flowQuery(page));
  const { tokens, source_tokens } = page.state.answer;
  const { edges, threshold, position } = flowGraph(page, found, USUAL_WIDTH, 1);
  const name = (/** @type {FlowEdge} */ { layer, kind, source, target }) =>
    `layer ${layer} ${kind}: ${((kind === "cross" && source_tokens) || tokens)[source].text} → ${tokens[target].text}`;
  return {
    name: "information-flow",
    shown: `information flow to “${inlineText(tokens[position].text)}”: shares of each residual stream of at least ${formatPercent(threshold)}`,
    sides: [runOf(page)],
    draw(width, title) {
      const { figure, y } = beginFigure(width, title);
      const box = { x: MARGIN, y, width: width - 2 * MARGIN };
      const graph = flowGraph(page, found, (box.width / LABEL_SIZE) * PRINT_SHEET.size, 1);
      const sheet = beginSheet(graph.width, "", PRINT_SHEET);
      addFlow(sheet, graph, flowPrediction(page, graph));
      return { figure, y: addDrawing(figure, sheet, box) };
    },
    tables: {
      "Information flow": createTable(
        "information flow",
        { edge: edges.map(name), number: ["share of the stream"] },
        edges.map(({ share }) => share),
      ),
    },
  };
}

/** The request for the displayed graph. @param {ExplorePage} page */
function flowQuery(page) {
  return { query: answerPosition(page), threshold: THRESHOLDS[memory(page).step - 1] };
}

/**
 * @param {ExplorePage} page @param {Found<InformationFlowAnswer>} found @param {number} width in pixels
 * @param {number} type the factor by which letters are enlarged @returns {FlowGraph}
 */
function flowGraph(page, found, width, type) {
  const { position, layers, threshold } = found.meta;
  const { tokens, source_tokens } = page.state.answer;
  const edges = readEdges(found);
  const layout = layoutFlow(edges, flowColumns(edges, position, tokens, source_tokens), { layers, width, type });
  return { ...layout, position, layers, threshold, hot: -1 };
}

/** @param {ExplorePage} page @param {FlowGraph} graph */
function flowPrediction(page, graph) {
  return page.state.answer.predictions.find(({ position }) => position === graph.position);
}

/** @param {ExplorePage} page */
function flowCanvas(page) {
  return layerElement(page, "flow", HTMLCanvasElement);
}

/** The slider for the smallest share in the graph. @param {ExplorePage} page */
function drawThreshold(page) {
  const slider = layerElement(page, "flow-threshold", HTMLInputElement);
  const { step } = memory(page);
  const words = formatPercent(THRESHOLDS[step - 1]);
  slider.value = String(step);
  if (slider.nextElementSibling) slider.nextElementSibling.textContent = words;
  slider.ariaValueText = words;
  slider.oninput = () => {
    memory(page).step = Number(slider.value);
    drawFlow(page);
  };
}

/**
 * Scroll to the last node once per answer.
 * @param {ExplorePage} page @param {FlowGraph} graph
 */
function scrollToAnswer(page, { position, x }) {
  const place = `${page.state.answered} ${position}`;
  const frame = flowCanvas(page).parentElement;
  if (!frame || memory(page).scrolledTo === place) return;
  memory(page).scrolledTo = place;
  frame.scrollLeft = x("text", position) - frame.clientWidth + 60;
}

/** @param {ExplorePage} page @param {FlowGraph} graph */
function listenToFlow(page, graph) {
  const canvas = flowCanvas(page);
  const mark = (/** @type {number} */ index) => {
    if (index !== graph.hot) markEdge(page, graph, index);
  };
  const edgeUnder = (/** @type {MouseEvent} */ event) => {
    const frame = canvas.getBoundingClientRect();
    return edgeAt(graph, event.clientX - frame.left, event.clientY - frame.top);
  };
  canvas.onmousemove = (event) => mark(edgeUnder(event));
  canvas.onmouseleave = () => mark(-1);
  canvas.onclick = (event) => selectEdgeHead(page, graph.edges[edgeUnder(event)]);
  const order = graph.edges
    .flatMap(({ heads }, index) => (heads.length ? [index] : []))
    .sort((a, b) => graph.edges[b].share - graph.edges[a].share);
  canvas.onkeydown = (event) => {
    const step = LIST_STEPS[event.key];
    if (step) mark(order[Math.min(Math.max(order.indexOf(graph.hot) + step, 0), order.length - 1)] ?? -1);
    else if (event.key === "Enter") selectEdgeHead(page, graph.edges[graph.hot]);
    else return;
    event.preventDefault();
  };
}

/** @param {ExplorePage} page @param {FlowEdge | undefined} edge */
function selectEdgeHead(page, edge) {
  if (edge?.heads.length) selectHeadOf(page, edge.layer, edge.heads[0].head, edge.kind);
}

/** @param {ExplorePage} page @param {FlowGraph} graph @param {number} index */
function markEdge(page, graph, index) {
  graph.hot = index;
  const edge = graph.edges[index];
  const canvas = flowCanvas(page);
  paintFigure(canvas, graph.width, currentStyle(page), (figure) => {
    addFlow(figure, graph, flowPrediction(page, graph));
    return graph.height;
  });
  const label = graph.columns.find(({ position, side }) => position === graph.position && side === "text")?.label;
  canvas.ariaLabel = `Flow graph to ${label}: ${graph.edges.length} shares of at least ${formatPercent(graph.threshold)}. Arrow keys go through them, the largest first; Enter chooses the head.`;
  markFlow(page, graph, edge);
  canvas.style.cursor = edge?.heads.length ? "pointer" : "default";
  layerElement(page, "flow-reading").replaceChildren(...(edge ? describeEdge(page, edge) : [describeGraph(graph)]));
}

/**
 * Marks the ends of an attention line as query and key, or else the token of the answer.
 * @param {ExplorePage} page @param {FlowGraph} graph @param {FlowEdge | undefined} edge
 */
function markFlow(page, { position }, edge) {
  if (!edge?.heads.length) return markTokens(page, { side: "text", position });
  markTokens(
    page,
    { side: "text", position: edge.target },
    { side: edge.kind === "cross" ? "source" : "text", position: edge.source },
  );
}

/** @param {FlowGraph} graph */
function describeGraph({ edges }) {
  return edges.length
    ? `${edges.length} shares. Point at a line to read it; the arrow keys go through them.`
    : "No share is this large; lower the threshold.";
}

/** @param {ExplorePage} page @param {FlowEdge} edge */
function describeEdge(page, { layer, kind, target, source, share, heads }) {
  const { tokens, source_tokens } = page.state.answer;
  const token = quotedToken(tokens[target]);
  if (kind === "residual")
    return [`Layer ${layer}: `, token, ` keeps ${formatPercent(share)} of its own stream from before attention`];
  const network = new Map([
    ["feed_forward", "feed-forward"],
    ["layer_embedding", "layer embedding"],
  ]).get(kind);
  if (network)
    return [`Layer ${layer}: the ${network} is ${formatPercent(share)} of the stream of `, token, " after it"];
  const from = quotedToken(((kind === "cross" && source_tokens) || tokens)[source]);
  const words = heads.map((one) => `head ${one.head} ${formatPercent(one.share)}`).join(", ");
  return [`Layer ${layer}: `, token, ` takes ${formatPercent(share)} from `, from, ` (${words})`];
}
