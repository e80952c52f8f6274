// Paints the shapes of a figure on a canvas.

import { hidpiContext } from "../dom/dom.ts";
import type { CanvasStyle, CircleShape, Curve, Figure, Polyline, RectangleShape, Shape, TextLine } from "../types.ts";
import { beginSheet, lookOf } from "./figure_text.ts";

const DASH = [4, 3]; // pixels

/** Draws a figure on a canvas in the colours of the page; `add` returns its height. */
export function paintFigure(
  canvas: HTMLCanvasElement,
  width: number,
  style: CanvasStyle,
  add: (figure: Figure) => number,
) {
  const figure = beginSheet(width, "", lookOf(style));
  const height = add(figure);
  paintShapes(hidpiContext(canvas, width, height), figure.shapes, style.font);
}

function paintShapes(context: CanvasRenderingContext2D, shapes: Shape[], font: string) {
  context.imageSmoothingEnabled = false;
  for (const shape of shapes) {
    if (shape.kind === "heatmap" && shape.image)
      context.drawImage(shape.image, shape.x, shape.y, shape.width, shape.height);
    else if (shape.kind === "rectangle" || shape.kind === "circle") paintArea(context, shape);
    else if (shape.kind === "polyline" || shape.kind === "curve") paintLine(context, shape);
    else if (shape.kind === "text") paintText(context, shape, font);
  }
}

function paintArea(context: CanvasRenderingContext2D, shape: RectangleShape | CircleShape) {
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

function paintLine(
  context: CanvasRenderingContext2D,
  { kind, points, stroke, stroke_width, opacity, dashed }: Polyline | Curve,
) {
  context.strokeStyle = stroke;
  context.lineWidth = stroke_width;
  context.lineJoin = "round";
  context.globalAlpha = opacity;
  context.setLineDash(dashed ? DASH : []);
  context.beginPath();
  if (kind === "curve" && points.length === 8) {
    const [x, y, ...bends] = points;
    context.moveTo(x, y);
    context.bezierCurveTo(...(bends as [number, number, number, number, number, number]));
  } else for (let at = 0; at < points.length; at += 2) context.lineTo(points[at], points[at + 1]);
  context.stroke();
  context.globalAlpha = 1;
  context.setLineDash([]);
}

function paintText(
  context: CanvasRenderingContext2D,
  { x, y, size, anchor, rotation, bold, fill, text }: TextLine,
  font: string,
) {
  context.save();
  context.font = `${bold ? "600 " : ""}${size}px ${font}`;
  context.fillStyle = fill;
  context.textAlign = anchor === "middle" ? "center" : anchor;
  context.translate(x, y);
  context.rotate((rotation * Math.PI) / 180);
  context.fillText(text, 0, 0);
  context.restore();
}
