// The shapes of a figure on a canvas.

import { PRINT_FONT } from "./figure_text.js";

/** @import { Polyline, TextLine } from "../export/contract.js" */
/** @import { RectangleShape, Shape } from "../export/types.js" */

/** @param {CanvasRenderingContext2D} context @param {Shape[]} shapes @param {string} [font] */
export function paintShapes(context, shapes, font = PRINT_FONT) {
  context.imageSmoothingEnabled = false;
  for (const shape of shapes) {
    if (shape.kind === "heatmap" && shape.image)
      context.drawImage(shape.image, shape.x, shape.y, shape.width, shape.height);
    else if (shape.kind === "rectangle") paintRectangle(context, shape);
    else if (shape.kind === "polyline") paintPolyline(context, shape);
    else if (shape.kind === "text") paintText(context, shape, font);
  }
}

/** @param {CanvasRenderingContext2D} context @param {RectangleShape} shape */
function paintRectangle(context, { x, y, width, height, fill, stroke, stroke_width = 1 }) {
  if (fill) {
    context.fillStyle = fill;
    context.fillRect(x, y, width, height);
  }
  if (!stroke) return;
  context.strokeStyle = stroke;
  context.lineWidth = stroke_width;
  context.strokeRect(x, y, width, height);
}

/** @param {CanvasRenderingContext2D} context @param {Polyline} shape */
function paintPolyline(context, { points, stroke, stroke_width }) {
  context.strokeStyle = stroke;
  context.lineWidth = stroke_width;
  context.beginPath();
  for (let at = 0; at < points.length; at += 2) context.lineTo(points[at], points[at + 1]);
  context.stroke();
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
