// The layout of a flow: a column for each token, a row for each depth, and edges from row to row.

/** @import { FlowEdge, FlowView } from "../types.js" */

/**
 * An edge with its place on the sheet.
 * @typedef {object} PlacedEdge
 * @property {FlowView["kinds"][string]["form"]} form
 * @property {string} kind
 * @property {number} share
 * @property {FlowEdge} edge
 * @property {{ x: number, y: number }} from
 * @property {{ x: number, y: number }} to
 */
/**
 * Sizes in pixels; `x` by column, `y` by row.
 * @typedef {object} FlowLayout
 * @property {PlacedEdge[]} edges
 * @property {number} step from column to column
 * @property {number} row from row to row
 * @property {number} top
 * @property {number} width
 * @property {number} height
 * @property {(column: number) => number} x
 * @property {(row: number) => number} y
 */

const [LEFT, TOP, BOTTOM] = [52, 84, 40];
const NEAR = 7; // pixels: the maximum distance of the pointer from an edge that it hits

/** @param {FlowView} view @param {number} width of the frame @returns {FlowLayout} */
export function layoutFlow({ columns, rows, edges, kinds }, width) {
  const step = Math.min(Math.max((width - LEFT - 20) / columns.length, 26), 84);
  const row = Math.min(Math.max(330 / Math.max(rows.length - 1, 1), 30), 64);
  const x = (/** @type {number} */ column) => LEFT + (column + 0.5) * step;
  const y = (/** @type {number} */ depth) => TOP + depth * row;
  return {
    edges: edges.map((edge) => {
      const [kind, depth, source, target, share] = edge;
      const [from, to] = [
        { x: x(source), y: y(depth) },
        { x: x(target), y: y(depth + 1) },
      ];
      return { form: kinds[kind].form, kind, share: Number(share), edge, from, to };
    }),
    ...{ step, row, x, y, top: TOP },
    width: Math.max(LEFT + columns.length * step + 12, 200),
    height: y(rows.length - 1) + BOTTOM,
  };
}

/** Whether a share is drawn as a square beside its token's stream. @param {Pick<PlacedEdge, "form">} edge */
export function isSquare({ form }) {
  return form === "square" || form === "second square";
}

/**
 * The squares of the two forms are on opposite sides of the stream.
 * @param {Pick<PlacedEdge, "form" | "to">} edge @param {Pick<FlowLayout, "step" | "row">} layout
 */
export function squareAt({ form, to }, { step, row }) {
  const aside = Math.min(step * 0.22, 12);
  return { x: to.x + (form === "square" ? aside : -aside), y: to.y - row * 0.28 };
}

/**
 * The index of the nearest edge within a few pixels of a point on the sheet, or -1.
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
 * @param {PlacedEdge} edge @param {number} x @param {number} y
 */
function distanceToCurve({ form, from, to }, x, y) {
  const part = (y - from.y) / (to.y - from.y);
  if (part < 0 || part > 1) return Infinity;
  return Math.abs(from.x + (to.x - from.x) * (3 * part ** 2 - 2 * part ** 3) - x) + (form === "stream" ? 1 : 0);
}
