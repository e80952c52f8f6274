// The flow graph, token x layer: from the embeddings on top down to the token whose answer is asked for.

import { tabStyle } from "../../../../model/rendering/static/ui/charts.js";
import { formatPercent, hidpiContext, inlineText, quotedToken, truncateText } from "../../../../model/rendering/static/ui/dom.js";
import { answerPosition, layerElement, selectHeadOf, showLayersMessage } from "./layers_tab.js";

const THRESHOLDS = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8];

export function drawFlow(self) {
  const range = layerElement(self, "flow-threshold");
  const threshold = THRESHOLDS[(self.flowStep ??= 4) - 1];
  range.value = self.flowStep;
  range.nextElementSibling.textContent = formatPercent(threshold);
  range.setAttribute("aria-valuetext", formatPercent(threshold));
  range.oninput = () => {
    self.flowStep = Number(range.value);
    drawFlow(self);
  };
  const found = self.wanted("flow", { query: answerPosition(self), threshold });
  if (!found) return;
  if (found.meta.error) return showLayersMessage(self, found.meta.error);
  self.flowing = { ...found.meta, edges: readEdges(found), hot: -1 };
  layoutFlow(self);
  listenToFlow(self);
  scrollToAnswer(self);
}

function readEdges({ meta, numbers }) {
  return Array.from({ length: meta.edges }, (_, index) => {
    const row = numbers.subarray(index * meta.columns, (index + 1) * meta.columns);
    const heads = [];
    for (let at = 5; at < meta.columns && row[at] >= 0; at += 2) heads.push({ head: row[at], share: row[at + 1] });
    return { layer: row[0], kind: meta.kinds[row[1]], target: row[2], source: row[3], share: row[4], heads };
  });
}

/** Once for each answer the node at the end is brought into sight; after that the person scrolls. */
function scrollToAnswer(self) {
  const place = `${self.answered} ${self.flowing.position}`;
  if (self.flowShown === place) return;
  self.flowShown = place;
  const frame = layerElement(self, "flow").parentElement;
  frame.scrollLeft = self.flowing.x.get(`text ${self.flowing.position}`) - frame.clientWidth + 60;
}

/** Where everything stands: a column for each token that takes part, source tokens first, a row for each depth. */
function layoutFlow(self) {
  const graph = self.flowing;
  const canvas = layerElement(self, "flow");
  const style = tabStyle(self);
  const sources = sortedUnique(graph.edges.filter((edge) => edge.kind === "cross").map((edge) => edge.source));
  const own = graph.edges.filter((edge) => edge.kind !== "cross").flatMap((edge) => [edge.source, edge.target]);
  const targets = sortedUnique([...own, ...graph.edges.map((edge) => edge.target), graph.position]);
  const { tokens, sourceTokens } = self.answer;
  const columns = [
    ...sources.map((place) => ({ place, from: "source", label: inlineText(sourceTokens[place].piece) })),
    ...targets.map((place) => ({ place, from: "text", label: inlineText(tokens[place].piece) })),
  ];
  const [left, top, bottom] = [52, 84, 40].map((room) => room * style.type);
  const frame = canvas.parentElement.clientWidth || 600;
  const step = Math.min(Math.max((frame - left - 20) / columns.length, 26), 84);
  const row = Math.min(Math.max(330 / Math.max(graph.layers, 1), 30), 64);
  const x = new Map(columns.map((column, index) => [`${column.from} ${column.place}`, left + (index + 0.5) * step]));
  const y = (depth) => top + depth * row;
  Object.assign(graph, { columns, style, step, row, top, left, x, y, width: Math.max(left + columns.length * step + 12, 200), height: y(graph.layers) + bottom });
  for (const edge of graph.edges) {
    edge.from = { x: x.get(`${edge.kind === "cross" ? "source" : "text"} ${edge.source}`), y: y(edge.layer) };
    edge.to = { x: x.get(`text ${edge.target}`), y: y(edge.layer + 1) };
  }
}

function sortedUnique(places) {
  return [...new Set(places)].sort((a, b) => a - b);
}

function paintFlow(self) {
  const graph = self.flowing;
  const canvas = layerElement(self, "flow");
  const { style, edges, columns } = graph;
  const context = hidpiContext(canvas, graph.width, graph.height);
  const { type } = style;
  context.font = `${12 * type}px ${style.font}`;
  context.textBaseline = "middle";
  context.fillStyle = style.quiet;
  context.textAlign = "left";
  for (let depth = 0; depth <= graph.layers; depth++) context.fillText(depth === 0 ? "emb." : `L${depth - 1}`, 4, graph.y(depth));
  for (const { from, place, label } of columns) {
    const asked = from === "text" && place === graph.position;
    context.save();
    context.translate(graph.x.get(`${from} ${place}`), graph.top - 14);
    context.rotate(-Math.PI / 2.6);
    context.fillStyle = asked ? style.ink : style.quiet;
    context.font = `${asked ? 650 : 400} ${from === "source" ? "italic " : ""}${12 * type}px ${style.font}`.replace(/^(\d+) italic/, "italic $1");
    context.fillText(truncateText(context, label, 76 * type), 0, 0);
    context.restore();
  }
  for (const edge of edges) if (edge.kind !== "feedforward") paintEdge(context, edge, style, false);
  paintNodes(context, graph);
  drawAnswer(self, context, graph);
  const hot = edges[graph.hot];
  if (hot && hot.kind !== "feedforward") paintEdge(context, hot, style, true);
  else if (hot) paintSquare(context, hot, { ...style, beam: style.ink }, graph);
  canvas.setAttribute("aria-label", `Flow graph to ${columns.find((column) => column.place === graph.position && column.from === "text").label}: ${edges.length} shares from ${formatPercent(graph.threshold)} on. Arrow keys go through them, the largest first; Enter chooses the head.`);
}

/** Under the last node stands what the model says there. */
function drawAnswer(self, context, graph) {
  const said = self.answer.predictions.find((prediction) => prediction.position === graph.position);
  const x = graph.x.get(`text ${graph.position}`);
  context.beginPath();
  context.arc(x, graph.y(graph.layers), 7, 0, 2 * Math.PI);
  context.strokeStyle = graph.style.beam;
  context.lineWidth = 2;
  context.stroke();
  if (!said) return;
  const text = `${inlineText(said.candidates[0].piece)} ${formatPercent(said.candidates[0].after)}`;
  context.font = `650 ${13 * graph.style.type}px ${graph.style.font}`;
  context.fillStyle = graph.style.ink;
  context.textAlign = "center";
  const half = context.measureText(text).width / 2;
  context.fillText(text, Math.min(Math.max(x, half + 2), graph.width - half - 2), graph.y(graph.layers) + 20 + 4 * graph.style.type);
  context.textAlign = "left";
}

function paintEdge(context, edge, style, hot) {
  context.strokeStyle = hot ? style.ink : edge.kind === "stream" ? style.quiet : edge.kind === "cross" ? style.minus : style.beam;
  context.globalAlpha = hot ? 1 : edge.kind === "stream" ? 0.35 : Math.min(0.3 + edge.share * 3, 1);
  context.lineWidth = (Math.max(1, Math.min(edge.share * (edge.kind === "stream" ? 6 : 22), 9)) + (hot ? 1.5 : 0)) * style.type;
  const bend = (edge.to.y - edge.from.y) * 0.5;
  context.beginPath();
  context.moveTo(edge.from.x, edge.from.y);
  context.bezierCurveTo(edge.from.x, edge.from.y + bend, edge.to.x, edge.to.y - bend, edge.to.x, edge.to.y);
  context.stroke();
  context.globalAlpha = 1;
}

function paintNodes(context, graph) {
  const { edges, style } = graph;
  const places = new Map(edges.flatMap((edge) => [edge.from, edge.to]).map((place) => [`${place.x} ${place.y}`, place]));
  for (const { x, y } of places.values()) {
    context.beginPath();
    context.arc(x, y, 3.5, 0, 2 * Math.PI);
    context.fillStyle = style.ink;
    context.fill();
  }
  for (const edge of edges) if (edge.kind === "feedforward") paintSquare(context, edge, style, graph);
}

/** The feed-forward of a token and layer: a square beside its stream, as large as its share. */
function paintSquare(context, edge, style, graph) {
  const size = 4 + Math.sqrt(edge.share) * 16;
  const { x, y } = squareAt(edge, graph);
  context.fillStyle = style.surface;
  context.fillRect(x - size / 2 - 1, y - size / 2 - 1, size + 2, size + 2);
  context.fillStyle = `color-mix(in srgb, ${style.beam} 55%, ${style.quiet})`;
  context.fillRect(x - size / 2, y - size / 2, size, size);
}

function squareAt(edge, graph) {
  return { x: edge.to.x + Math.min(graph.step * 0.22, 12), y: edge.to.y - graph.row * 0.28 };
}

/** Which edge lies nearest to a place on the canvas, within a few pixels, or -1. */
function edgeAtPointer(graph, x, y) {
  let [best, nearest] = [-1, 7];
  graph.edges.forEach((edge, index) => {
    if (edge.kind === "feedforward") {
      const square = squareAt(edge, graph);
      const far = Math.max(Math.abs(square.x - x), Math.abs(square.y - y)) - 4;
      if (far < nearest) [best, nearest] = [index, Math.max(far, 0) * 0.5];
      return;
    }
    const part = (y - edge.from.y) / (edge.to.y - edge.from.y);
    if (part < 0 || part > 1) return;
    // The curve's height is nearly even in its parameter, so its place at this height is found at once.
    const far = Math.abs(edge.from.x + (edge.to.x - edge.from.x) * (3 * part ** 2 - 2 * part ** 3) - x) + (edge.kind === "stream" ? 1 : 0);
    if (far < nearest) [best, nearest] = [index, far];
  });
  return best;
}

function listenToFlow(self) {
  const canvas = layerElement(self, "flow");
  const graph = self.flowing;
  const under = (event) => {
    const frame = canvas.getBoundingClientRect();
    return edgeAtPointer(graph, event.clientX - frame.left, event.clientY - frame.top);
  };
  canvas.onmousemove = (event) => highlightEdge(self, under(event));
  canvas.onmouseleave = () => highlightEdge(self, -1);
  canvas.onclick = (event) => selectEdgeHead(self, under(event));
  const order = graph.edges.map((_, index) => index).sort((a, b) => graph.edges[b].share - graph.edges[a].share).filter((index) => graph.edges[index].heads.length);
  canvas.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (by) highlightEdge(self, order[Math.min(Math.max(order.indexOf(graph.hot) + by, 0), order.length - 1)] ?? -1);
    else if (event.key === "Enter") selectEdgeHead(self, graph.hot);
    else return;
    event.preventDefault();
  };
  highlightEdge(self, -1, true);
}

function selectEdgeHead(self, index) {
  const edge = self.flowing.edges[index];
  if (edge?.heads.length) selectHeadOf(self, edge.layer, edge.heads[0].head, edge.kind);
}

function highlightEdge(self, index, always = false) {
  const graph = self.flowing;
  if (index === graph.hot && !always) return;
  graph.hot = index;
  paintFlow(self);
  layerElement(self, "flow").style.cursor = graph.edges[index]?.heads.length ? "pointer" : "default";
  layerElement(self, "flow-reading").replaceChildren(...describeEdge(self, graph.edges[index]));
}

function describeEdge(self, edge) {
  const { edges } = self.flowing;
  if (!edge) return [edges.length ? `${edges.length} shares. Point at a line to read it; the arrow keys go through them.` : "Nothing reaches this share; lower it."];
  const { tokens, sourceTokens } = self.answer;
  const target = quotedToken(tokens[edge.target]);
  if (edge.kind === "stream") return [`Layer ${edge.layer}: `, ...target, ` keeps ${formatPercent(edge.share)} of its own stream from before attention`];
  if (edge.kind === "feedforward") return [`Layer ${edge.layer}: the feed-forward is ${formatPercent(edge.share)} of the stream of `, ...target, " after it"];
  const source = quotedToken((edge.kind === "cross" ? sourceTokens : tokens)[edge.source]);
  const heads = edge.heads.map(({ head, share }) => `head ${head} ${formatPercent(share)}`).join(", ");
  return [`Layer ${edge.layer}: `, ...target, ` takes ${formatPercent(edge.share)} from `, ...source, ` (${heads})`];
}
