// SVG elements, and the shapes of a figure as SVG elements: on the screen and in a file.

import type { CellsShape, Figure, Shape } from "../export/types.ts";
import { paintCodes } from "./colours.ts";

const SVG = "http://www.w3.org/2000/svg";
const [PRINT_DASH, SCREEN_DASH] = ["1 0.8", "6 4"]; // millimetres, pixels

/** @param attributes undefined ones are omitted */
export function svg(
  name: string,
  attributes: Record<string, string | number | undefined> = {},
  children: (Node | string)[] = [],
): SVGElement {
  const element = document.createElementNS(SVG, name) as SVGElement;
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined)
      element.setAttribute(attribute, typeof value === "number" ? String(roundedNumber(value)) : value);
  }
  element.append(...children.map((child) => (typeof child === "string" ? xmlText(child) : child)));
  return element;
}

export function roundedNumber(number: number) {
  return Number(number.toFixed(3));
}

/** Replaces the characters that XML forbids. */
function xmlText(text: string) {
  return text.replace(
    /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    "\ufffd",
  );
}

/** An SVG element with a text alternative. */
export function createSheet(width: number, height: number, words: string) {
  const sheet = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "sheet-svg" }, [
    svg("title", {}, [words]),
  ]);
  sheet.style.maxWidth = `${width}px`;
  return sheet;
}

/** A figure for the screen. */
export function figureSheet({ width, height, title, palette, shapes }: Figure) {
  const sheet = createSheet(width, height, title);
  sheet.append(...shapes.map((shape) => shapeElement(shape, palette, SCREEN_DASH)));
  return sheet;
}

/** @param palette of byte codes @param dash of dashed lines */
export function shapeElement(shape: Shape, palette: string[], dash: string = PRINT_DASH) {
  if (shape.kind === "heatmap") return cellsElement(shape, shape.palette ?? palette);
  if (shape.kind === "rectangle") {
    const { x, y, width, height, fill = "none", stroke, stroke_width } = shape;
    return svg("rect", { x, y, width, height, fill, stroke, "stroke-width": stroke_width });
  }
  if (shape.kind === "circle") {
    const { x: cx, y: cy, radius: r, fill = "none", stroke, stroke_width } = shape;
    return svg("circle", { cx, cy, r, fill, stroke, "stroke-width": stroke_width });
  }
  if (shape.kind === "curve" || shape.kind === "polyline") {
    const { kind, points, stroke, stroke_width, opacity, dashed } = shape;
    const [from, to] = [points.slice(0, 2).map(roundedNumber), points.slice(2).map(roundedNumber)];
    return svg("path", {
      d: `M${from}${kind === "curve" && to.length > 2 ? "C" : "L"}${to}`,
      fill: "none",
      stroke,
      "stroke-width": stroke_width,
      "stroke-linejoin": "round",
      "stroke-opacity": opacity,
      "stroke-dasharray": dashed ? dash : undefined,
    });
  }
  const { x, y, rotation } = shape;
  const transform = rotation ? `rotate(${rotation} ${roundedNumber(x)} ${roundedNumber(y)})` : undefined;
  if (shape.kind === "image") {
    const { left, top, width, height, png } = shape;
    const href = `data:image/png;base64,${png}`;
    return svg("image", { x: x + left, y: y + top, width, height, href, transform });
  }
  const { size, anchor, bold, fill, text } = shape;
  const font = { "font-size": size, "font-weight": bold ? "bold" : undefined };
  return svg("text", { x, y, fill, ...font, "text-anchor": anchor, direction: "ltr", transform }, [text]);
}

function cellsElement({ x, y, width, height, rows, columns, codes, gap }: CellsShape, palette: string[]) {
  if (!gap) {
    const href = cellsCanvas(codes, rows, columns, palette).toDataURL("image/png");
    const style = "image-rendering: pixelated";
    return svg("image", { x, y, width, height, href, preserveAspectRatio: "none", style });
  }
  const [across, down] = [width / columns, height / rows];
  const group = svg("g", { "shape-rendering": "crispEdges" });
  codes.forEach((code, cell) => {
    if (!code) return;
    const box = { x: x + (cell % columns) * across + gap / 2, y: y + Math.floor(cell / columns) * down + gap / 2 };
    group.append(svg("rect", { ...box, width: across - gap, height: down - gap, fill: palette[code] }));
  });
  return group;
}

function cellsCanvas(codes: Uint8Array, rows: number, columns: number, palette: string[]) {
  const canvas = document.createElement("canvas");
  const pixels = palette.map((ink) => parseInt(`ff${ink.slice(5, 7)}${ink.slice(3, 5)}${ink.slice(1, 3)}`, 16));
  paintCodes(canvas, codes, rows, columns, Uint32Array.from(pixels));
  return canvas;
}
