// Paints the shapes of a figure on a canvas.

import { hidpiContext } from "../dom/dom.js";
import { beginSheet, lookOf } from "./figure_text.js";

/** @import { CanvasStyle, CircleShape, Curve, Figure, Polyline, RectangleShape, Shape, TextLine } from "../types.js" */

const DASH = [4, 3]; // pixels

/**
 * Draws a figure on a canvas in the colours of the page; `add` returns its height.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {CanvasStyle} style @param {(figure: Figure) => number} add
 */
export function paintFigure(canvas, width, style, add) {
  const figure = beginSheet(width, "", lookOf(style));
  const height = add(figure);
  paintShapes(hidpiContext(canvas, width, height), figure.shapes, style.font);
}

/** @param {CanvasRenderingContext2D} context @param {Shape[]} shapes @param {string} font */
function paintShapes(context, shapes, font) {
  context.imageSmoothingEnabled = false;
  for (const shape of shapes) {
    if (shape.kind === "heatmap" && shape.image)
      context.drawImage(shape.image, shape.x, shape.y, shape.width, shape.height);
    else if (shape.kind === "rectangle" || shape.kind === "circle") paintArea(context, shape);
    else if (shape.kind === "polyline" || shape.kind === "curve") paintLine(context, shape);
    else if (shape.kind === "text") paintText(context, shape, font);
  }
}

/** @param {CanvasRenderingContext2D} context @param {RectangleShape | CircleShape} shape */
function paintArea(context, shape) {
  const { fill, stroke, stroke_width = 1 } = shape;
  context.beginPath();
  if (shape.kind === "circle") context.arc(shape.x, shape.y, shape.radius, 0, 2 * Math.PI);
  else context.rect(shape.x, shape.y, shape.width, shape.height);
  if (fill) {
    context.fillStyle = fill;
    context.fill();
  }
  if (!stroke) return;
  context.strokeStyle = stroke;
  context.lineWidth = stroke_width;
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {Polyline | Curve} shape */
function paintLine(context, { kind, points, stroke, stroke_width, opacity, dashed }) {
  context.strokeStyle = stroke;
  context.lineWidth = stroke_width;
  context.globalAlpha = opacity;
  context.setLineDash(dashed ? DASH : []);
  context.beginPath();
  if (kind === "curve" && points.length === 8) {
    const [x, y, ...bends] = points;
    context.moveTo(x, y);
    context.bezierCurveTo(.../** @type {[number, number, number, number, number, number]} */ (bends));
  } else for (let at = 0; at < points.length; at += 2) context.lineTo(points[at], points[at + 1]);
  context.stroke();
  context.globalAlpha = 1;
  context.setLineDash([]);
}

/** @param {CanvasRenderingContext2D} context @param {TextLine} shape @param {string} font */
function paintText(context, { x, y, size, anchor, rotation, bold, fill, text }, font) {
  context.save();
  context.font = `${bold ? "600 " : ""}${size}px ${font}`;
  context.fillStyle = fill;
  context.textAlign = anchor === "middle" ? "center" : anchor;
  context.translate(x, y);
  context.rotate((rotation * Math.PI) / 180);
  context.fillText(text, 0, 0);
  context.restore();
}
