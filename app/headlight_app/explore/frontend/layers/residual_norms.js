// The norm of the residual stream after each layer: a thin line for each token, the one at hand strong.

import { formatNumber } from "../../../ui/frontend/charts/charts.js";
import { hidpiContext, inlineText, quotedToken } from "../../../ui/frontend/dom/dom.js";
import { currentStyle } from "../../../ui/frontend/heads/measurements.js";
import { answerPosition, depthLabel, layerElement } from "./layer_panel.js";

/** @import { ExplorePage } from "../types.js" */
/** @import { CanvasStyle } from "../../../ui/frontend/types.js" */

/**
 * Where a depth and a length stand, and between which logarithms.
 * @typedef {{ low: number, high: number, left: number, x: (depth: number) => number, y: (length: number) => number }} Axes
 */

const HEIGHT = 170; // pixels
const SMALLEST = 1e-6; // that has a logarithm worth a place
const MOST_LABELS = 14;

/** @param {ExplorePage} page */
export function drawResidualNorms(page) {
  const found = page.server.get("residual_norms", {});
  if (!found || found.meta.error) return;
  const { depths, tokens: count } = found.meta;
  const canvas = layerElement(page, "lengths", HTMLCanvasElement);
  const width = canvas.parentElement?.clientWidth;
  if (!width) return;
  const style = currentStyle(page);
  const context = hidpiContext(canvas, width, HEIGHT);
  const axes = axesOf(found.numbers, depths, width, style.type);
  const lengths = (/** @type {number} */ token) =>
    Array.from({ length: depths }, (_, depth) => Math.max(found.numbers[depth * count + token], SMALLEST));
  drawAxes(context, axes, depths, style);
  context.strokeStyle = style.quiet;
  context.globalAlpha = Math.max(0.12, Math.min(0.45, 8 / count));
  for (let token = 0; token < count; token++) drawLine(context, axes, lengths(token));
  context.globalAlpha = 1;
  context.lineWidth = 2.5;
  context.strokeStyle = style.beam;
  const chosen = answerPosition(page);
  drawLine(context, axes, lengths(chosen));
  const token = page.state.answer.tokens[chosen];
  const words = lengths(chosen).map((length) => formatNumber(length, 3));
  layerElement(page, "lengths-reading").replaceChildren(...quotedToken(token), `: ${words.join(" → ")}`);
  canvas.setAttribute(
    "aria-label",
    `Norm of the residual stream after each layer, at ${inlineText(token.text)}: ${words.join(", ")}`,
  );
}

/**
 * @param {Float32Array} lengths @param {number} depths @param {number} width @param {number} type by how much letters are enlarged
 * @returns {Axes}
 */
function axesOf(lengths, depths, width, type) {
  let [low, high] = [Infinity, -Infinity];
  for (const length of lengths) {
    const log = Math.log10(Math.max(length, SMALLEST));
    [low, high] = [Math.min(low, log), Math.max(high, log)];
  }
  const [left, bottom] = [44 * type, 20 * type];
  const x = (/** @type {number} */ depth) => left + (depth / Math.max(depths - 1, 1)) * (width - left - 10);
  const y = (/** @type {number} */ length) =>
    8 + ((high - Math.log10(length)) / (high - low || 1)) * (HEIGHT - bottom - 14);
  return { low, high, left, x, y };
}

/** @param {CanvasRenderingContext2D} context @param {Axes} axes @param {number} depths @param {CanvasStyle} style */
function drawAxes(context, { low, high, left, x, y }, depths, style) {
  context.font = `${11 * style.type}px ${style.font}`;
  context.fillStyle = style.quiet;
  context.textAlign = "center";
  for (let depth = 0; depth < depths; depth += Math.ceil(depths / MOST_LABELS))
    context.fillText(depthLabel(depth), x(depth), HEIGHT - 5);
  context.textAlign = "right";
  for (const log of [low, (low + high) / 2, high])
    context.fillText(formatNumber(10 ** log, 2), left - 6, y(10 ** log) + 4);
}

/** @param {CanvasRenderingContext2D} context @param {Axes} axes @param {number[]} lengths after each layer */
function drawLine(context, { x, y }, lengths) {
  context.beginPath();
  for (const [depth, length] of lengths.entries()) context.lineTo(x(depth), y(length));
  context.stroke();
}
