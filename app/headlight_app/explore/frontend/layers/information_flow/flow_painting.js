// The flow graph as shapes: on the canvas of the page, and in a figure.

import { answerNumber } from "../../../../ui/frontend/charts/answer_numbers.js";
import { addWords } from "../../../../ui/frontend/charts/figure_text.js";
import { inlineText } from "../../../../ui/frontend/dom/dom.js";
import { depthLabel } from "../layer_panel.js";
import { isSquare, squareAt } from "./flow_layout.js";

/** @import { FlowGraph } from "./information_flow.js" */
/** @import { Figure, FlowEdge, Prediction } from "../../types.js" */

const [NODE, ANSWER_NODE] = [3.5, 7]; // radius in pixels
const LABEL_TURN = -69; // degrees

/** @param {Figure} figure in pixels @param {FlowGraph} graph @param {Prediction | undefined} prediction at the last node */
export function addFlow(figure, graph, prediction) {
  figure.height = graph.height;
  const { edges } = graph;
  addLabels(figure, graph);
  for (const edge of edges) if (!isSquare(edge)) addEdge(figure, edge, false);
  addNodes(figure, edges);
  for (const edge of edges) if (isSquare(edge)) addSquare(figure, edge, graph, false);
  addAnswer(figure, graph, prediction);
  const hot = edges[graph.hot];
  if (hot && isSquare(hot)) addSquare(figure, hot, graph, true);
  else if (hot) addEdge(figure, hot, true);
}

/** @param {Figure} figure @param {FlowGraph} graph */
function addLabels(figure, { columns, layers, position: asked, top, x, y }) {
  const { size, ink, quiet } = figure.look;
  for (let depth = 0; depth <= layers; depth++)
    addWords(figure, depthLabel(depth), 4, y(depth) + 0.35 * size, { anchor: "start", room: 4 * size, fill: quiet });
  for (const { side, position, label } of columns) {
    const isAsked = side === "text" && position === asked;
    const words = side === "source" ? `${label} (source)` : label;
    const look = { bold: isAsked, fill: isAsked ? ink : quiet };
    const place = { anchor: /** @type {const} */ ("start"), turn: LABEL_TURN, room: 6.3 * size };
    addWords(figure, words, x(side, position) + 0.35 * size, top - 14, { ...place, ...look });
  }
}

/**
 * Draws the model's prediction under the last node.
 * @param {Figure} figure @param {FlowGraph} graph @param {Prediction | undefined} prediction
 */
function addAnswer(figure, graph, prediction) {
  const { beam, ink, size } = figure.look;
  const [x, y] = [graph.x("text", graph.position), graph.y(graph.layers)];
  figure.shapes.push({ kind: "circle", x, y, radius: ANSWER_NODE, stroke: beam, stroke_width: 2 });
  if (!prediction) return;
  const [{ text, after }] = prediction.candidates;
  const words = `${inlineText(text)} ${answerNumber(prediction, after)}`;
  // Centred under its node, unless that is near the edge.
  const [from, room] = [Math.min(Math.max(x, 4 * size), graph.width - 4 * size), 8 * size];
  addWords(figure, words, from, y + 20 + size / 3, { anchor: "middle", room, bold: true, fill: ink });
}

/** @param {Figure} figure @param {FlowEdge} edge @param {boolean} hot */
function addEdge({ shapes, look }, { kind, share, from, to }, hot) {
  const stream = kind === "residual";
  const bend = (to.y - from.y) * 0.5;
  const thick = Math.max(1, Math.min(share * (stream ? 6 : 22), 9)) + (hot ? 1.5 : 0);
  shapes.push({
    kind: "curve",
    points: [from.x, from.y, from.x, from.y + bend, to.x, to.y - bend, to.x, to.y],
    stroke: hot ? look.ink : stream ? look.quiet : kind === "cross" ? look.minus : look.beam,
    stroke_width: (thick * look.size) / 12,
    opacity: hot ? 1 : stream ? 0.35 : Math.min(0.3 + share * 3, 1),
    dashed: false,
  });
}

/** @param {Figure} figure @param {FlowEdge[]} edges */
function addNodes({ shapes, look }, edges) {
  const places = new Map(edges.flatMap(({ from, to }) => [from, to]).map((place) => [`${place.x} ${place.y}`, place]));
  for (const { x, y } of places.values()) shapes.push({ kind: "circle", x, y, radius: NODE, fill: look.ink });
}

/**
 * The feed-forward or the layer embedding of a token: a square whose size shows its share.
 * @param {Figure} figure @param {FlowEdge} edge @param {FlowGraph} graph @param {boolean} hot
 */
function addSquare({ shapes, look }, edge, graph, hot) {
  const side = 4 + Math.sqrt(edge.share) * 16;
  const { x, y } = squareAt(edge, graph);
  const place = { x: x - side / 2, y: y - side / 2, width: side, height: side };
  shapes.push({
    kind: "rectangle",
    ...place,
    fill: hot ? look.ink : look.beam,
    stroke: look.paper,
    stroke_width: look.thin,
  });
}
