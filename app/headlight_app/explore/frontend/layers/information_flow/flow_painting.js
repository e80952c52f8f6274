// The flow graph on its canvas.

import { formatPercent, hidpiContext, inlineText, truncateText } from "../../../../ui/frontend/dom/dom.js";
import { depthLabel } from "../layer_panel.js";
import { squareAt } from "./flow_layout.js";

/** @import { FlowGraph } from "./information_flow.js" */
/** @import { FlowEdge } from "../../types.js" */
/** @import { CanvasStyle, Prediction } from "../../../../ui/frontend/types.js" */

/**
 * @param {HTMLCanvasElement} canvas @param {FlowGraph} graph @param {CanvasStyle} style
 * @param {Prediction | undefined} prediction at the last node
 */
export function paintFlow(canvas, graph, style, prediction) {
  const context = hidpiContext(canvas, graph.width, graph.height);
  const { edges } = graph;
  paintLabels(context, graph, style);
  for (const edge of edges) if (edge.kind !== "feed_forward") paintEdge(context, edge, style, false);
  paintNodes(context, edges, style);
  for (const edge of edges) if (edge.kind === "feed_forward") paintSquare(context, edge, style, graph);
  paintAnswer(context, graph, style, prediction);
  const hot = edges[graph.hot];
  if (hot?.kind === "feed_forward") paintSquare(context, hot, { ...style, beam: style.ink }, graph);
  else if (hot) paintEdge(context, hot, style, true);
}

/** @param {CanvasRenderingContext2D} context @param {FlowGraph} graph @param {CanvasStyle} style */
function paintLabels(context, { columns, layers, position: asked, top, x, y }, style) {
  const { type } = style;
  context.font = `${12 * type}px ${style.font}`;
  context.textBaseline = "middle";
  context.fillStyle = style.quiet;
  context.textAlign = "left";
  for (let depth = 0; depth <= layers; depth++) context.fillText(depthLabel(depth), 4, y(depth));
  for (const { side, position, label } of columns) {
    const isAsked = side === "text" && position === asked;
    context.save();
    context.translate(x(side, position), top - 14);
    context.rotate(-Math.PI / 2.6);
    context.fillStyle = isAsked ? style.ink : style.quiet;
    context.font = `${side === "source" ? "italic " : ""}${isAsked ? 650 : 400} ${12 * type}px ${style.font}`;
    context.fillText(truncateText(context, label, 76 * type), 0, 0);
    context.restore();
  }
}

/**
 * Under the last node stands what the model says there.
 * @param {CanvasRenderingContext2D} context @param {FlowGraph} graph @param {CanvasStyle} style
 * @param {Prediction | undefined} prediction
 */
function paintAnswer(context, graph, style, prediction) {
  const [x, y] = [graph.x("text", graph.position), graph.y(graph.layers)];
  context.beginPath();
  context.arc(x, y, 7, 0, 2 * Math.PI);
  context.strokeStyle = style.beam;
  context.lineWidth = 2;
  context.stroke();
  if (!prediction) return;
  const [{ text: piece, after }] = prediction.candidates;
  const text = `${inlineText(piece)} ${formatPercent(after)}`;
  context.font = `650 ${13 * style.type}px ${style.font}`;
  context.fillStyle = style.ink;
  context.textAlign = "center";
  const half = context.measureText(text).width / 2;
  context.fillText(text, Math.min(Math.max(x, half + 2), graph.width - half - 2), y + 20 + 4 * style.type);
  context.textAlign = "left";
}

/** @param {CanvasRenderingContext2D} context @param {FlowEdge} edge @param {CanvasStyle} style @param {boolean} hot */
function paintEdge(context, { kind, share, from, to }, style, hot) {
  const stream = kind === "residual";
  context.strokeStyle = hot ? style.ink : stream ? style.quiet : kind === "cross" ? style.minus : style.beam;
  context.globalAlpha = hot ? 1 : stream ? 0.35 : Math.min(0.3 + share * 3, 1);
  context.lineWidth = (Math.max(1, Math.min(share * (stream ? 6 : 22), 9)) + (hot ? 1.5 : 0)) * style.type;
  const bend = (to.y - from.y) * 0.5;
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.bezierCurveTo(from.x, from.y + bend, to.x, to.y - bend, to.x, to.y);
  context.stroke();
  context.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} context @param {FlowEdge[]} edges @param {CanvasStyle} style */
function paintNodes(context, edges, style) {
  const places = new Map(edges.flatMap(({ from, to }) => [from, to]).map((place) => [`${place.x} ${place.y}`, place]));
  for (const { x, y } of places.values()) {
    context.beginPath();
    context.arc(x, y, 3.5, 0, 2 * Math.PI);
    context.fillStyle = style.ink;
    context.fill();
  }
}

/**
 * The feed-forward of a token and layer: a square as large as its share.
 * @param {CanvasRenderingContext2D} context @param {FlowEdge} edge @param {CanvasStyle} style @param {FlowGraph} graph
 */
function paintSquare(context, edge, style, graph) {
  const size = 4 + Math.sqrt(edge.share) * 16;
  const { x, y } = squareAt(edge, graph);
  context.fillStyle = style.surface;
  context.fillRect(x - size / 2 - 1, y - size / 2 - 1, size + 2, size + 2);
  context.fillStyle = `color-mix(in srgb, ${style.beam} 55%, ${style.quiet})`;
  context.fillRect(x - size / 2, y - size / 2, size, size);
}
