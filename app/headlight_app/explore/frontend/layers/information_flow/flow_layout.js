// The layout of the flow graph: a column for each token in the graph, a row for each depth.

import { inlineText } from "../../../../ui/frontend/dom/dom.js";

/** @import { FlowEdge, Found, InformationFlowAnswer, Token } from "../../types.js" */

/** @typedef {{ position: number, side: "text" | "source", label: string }} FlowColumn */
/** @typedef {Omit<FlowEdge, "from" | "to">} FlowShare an edge without its place on the canvas */

/**
 * Sizes in pixels; `x` by side and position, `y` by depth.
 * @typedef {object} FlowLayout
 * @property {FlowColumn[]} columns
 * @property {FlowEdge[]} edges
 * @property {number} step from column to column
 * @property {number} row from depth to depth
 * @property {number} top
 * @property {number} width
 * @property {number} height
 * @property {(side: FlowColumn["side"], position: number) => number} x
 * @property {(depth: number) => number} y
 */

const NEAR = 7; // pixels: the maximum distance of the pointer from an edge that it hits

/**
 * The edges from the server's numbers: layer, kind, target, source, share, then heads with their shares.
 * @param {Pick<Found<InformationFlowAnswer>, "meta" | "numbers">} found @returns {FlowShare[]}
 */
export function readEdges({ meta, numbers }) {
  return Array.from({ length: meta.edges }, (_, index) => {
    const [layer, kind, target, source, share, ...rest] = numbers.subarray(
      index * meta.columns,
      (index + 1) * meta.columns,
    );
    const heads = [];
    for (let at = 0; at < rest.length && rest[at] >= 0; at += 2) heads.push({ head: rest[at], share: rest[at + 1] });
    return { layer, kind: meta.edge_kinds[kind], target, source, share, heads };
  });
}

/**
 * The columns: source tokens first, then those of the text.
 * @param {FlowShare[]} edges @param {number} position of the explained answer
 * @param {Token[]} tokens @param {Token[] | null} sourceTokens @returns {FlowColumn[]}
 */
export function flowColumns(edges, position, tokens, sourceTokens) {
  const sources = edges.filter(({ kind }) => kind === "cross").map(({ source }) => source);
  const own = edges.flatMap(({ kind, source, target }) => (kind === "cross" ? [target] : [source, target]));
  /** @type {(side: FlowColumn["side"], from: Token[]) => (position: number) => FlowColumn} */
  const column = (side, from) => (place) => ({ position: place, side, label: inlineText(from[place].text) });
  return [
    ...sortedUnique(sources).map(column("source", sourceTokens ?? [])),
    ...sortedUnique([...own, position]).map(column("text", tokens)),
  ];
}

/**
 * @param {FlowShare[]} shares @param {FlowColumn[]} columns
 * @param {{ layers: number, width: number, type: number }} room width of the frame, and the factor by which letters are
 * enlarged
 * @returns {FlowLayout}
 */
export function layoutFlow(shares, columns, { layers, width, type }) {
  const [left, top, bottom] = [52 * type, 84 * type, 40 * type];
  const step = Math.min(Math.max((width - left - 20) / columns.length, 26), 84);
  const row = Math.min(Math.max(330 / Math.max(layers, 1), 30), 64);
  const places = new Map(
    columns.map(({ side, position }, index) => [`${side} ${position}`, left + (index + 0.5) * step]),
  );
  const x = (/** @type {FlowColumn["side"]} */ side, /** @type {number} */ position) =>
    places.get(`${side} ${position}`) ?? left;
  const y = (/** @type {number} */ depth) => top + depth * row;
  const edges = shares.map((share) => ({
    ...share,
    from: { x: x(share.kind === "cross" ? "source" : "text", share.source), y: y(share.layer) },
    to: { x: x("text", share.target), y: y(share.layer + 1) },
  }));
  return {
    columns,
    edges,
    step,
    row,
    top,
    x,
    y,
    width: Math.max(left + columns.length * step + 12, 200),
    height: y(layers) + bottom,
  };
}

/** Whether a share is that of a feed-forward or a layer embedding, drawn as a square. @param {FlowShare} share */
export function isSquare({ kind }) {
  return kind === "feed_forward" || kind === "layer_embedding";
}

/**
 * The square of a feed-forward is on one side of its token's stream, that of a layer embedding on the other.
 * @param {FlowEdge} edge @param {Pick<FlowLayout, "step" | "row">} layout
 */
export function squareAt({ kind, to }, { step, row }) {
  const aside = Math.min(step * 0.22, 12);
  return { x: to.x + (kind === "feed_forward" ? aside : -aside), y: to.y - row * 0.28 };
}

/**
 * The index of the nearest edge within a few pixels of a point on the canvas, or -1.
 * @param {FlowLayout} layout @param {number} x @param {number} y
 */
export function edgeAt(layout, x, y) {
  let [best, nearest] = [-1, NEAR];
  layout.edges.forEach((edge, index) => {
    const distance = isSquare(edge) ? distanceToSquare(squareAt(edge, layout), x, y) : distanceToCurve(edge, x, y);
    // Squares are drawn on top, so they win over curves.
    if (distance < nearest) [best, nearest] = [index, isSquare(edge) ? Math.max(distance, 0) / 2 : distance];
  });
  return best;
}

/** @param {{ x: number, y: number }} square @param {number} x @param {number} y */
function distanceToSquare(square, x, y) {
  return Math.max(Math.abs(square.x - x), Math.abs(square.y - y)) - 4;
}

/**
 * The curve's height is nearly linear in its parameter, so its point at this height needs no search.
 * @param {FlowEdge} edge @param {number} x @param {number} y
 */
function distanceToCurve({ kind, from, to }, x, y) {
  const part = (y - from.y) / (to.y - from.y);
  if (part < 0 || part > 1) return Infinity;
  return Math.abs(from.x + (to.x - from.x) * (3 * part ** 2 - 2 * part ** 3) - x) + (kind === "residual" ? 1 : 0);
}

/** @param {number[]} positions */
function sortedUnique(positions) {
  return [...new Set(positions)].sort((a, b) => a - b);
}
