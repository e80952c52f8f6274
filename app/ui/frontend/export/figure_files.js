// A figure as a file: SVG and PNG here, PDF by the server from the same shapes.

import { saveBlob, saveFile } from "../../../../model/rendering/static/ui/clipboard.js";
import { paintCodes } from "../../../../model/rendering/static/ui/colours.js";
import { context2d } from "../../../../model/rendering/static/ui/dom.js";
import { PRINT_COLOURS, PRINT_FONT } from "./figure_text.js";
import { addPngTexts } from "./png_texts.js";

/** @import { CellsShape, Figure, Metadata, Shape, StampShape, TextShape } from "./types.js" */

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
const DOTS_PER_MM = 300 / 25.4; // of a PNG, in a millimetre
const PDF_FONT = /^[\x20-\x7e\xa0-\xff‘’“”–—…•€]*$/; // what the font of the PDF has; all else comes as a picture

/**
 * @param {Element} parent @param {string} tag @param {Record<string, string | number | undefined>} attributes
 * @param {string} [text]
 */
function svgElement(parent, tag, attributes, text) {
  const element = document.createElementNS(SVG_NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined)
      element.setAttribute(name, typeof value === "number" ? String(Number(value.toFixed(3))) : value);
  }
  if (text !== undefined) element.textContent = xmlText(text);
  parent.append(element);
  return element;
}

/** Without the characters that no XML may hold. @param {string} text */
function xmlText(text) {
  return text.replace(
    /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    "\ufffd",
  );
}

/** @param {Element} parent @param {Shape} shape @param {string[]} inks */
function drawShape(parent, shape, inks) {
  if (shape.kind === "heatmap") return svgCells(parent, shape, inks);
  if (shape.kind === "rectangle") {
    const { x, y, width, height, fill = "none", stroke, stroke_width } = shape;
    return svgElement(parent, "rect", { x, y, width, height, fill, stroke, "stroke-width": stroke_width });
  }
  if (shape.kind === "curve") {
    const { points, stroke, stroke_width: thickness, opacity, dashed } = shape;
    const [from, to] = [points.slice(0, 2).map(roundedNumber), points.slice(2).map(roundedNumber)];
    return svgElement(parent, "path", {
      d: `M${from}${to.length > 2 ? "C" : "L"}${to}`,
      fill: "none",
      stroke,
      "stroke-width": thickness,
      "stroke-opacity": opacity,
      "stroke-dasharray": dashed ? "1 0.8" : undefined,
    });
  }
  const { x, y, rotation } = shape;
  const transform = rotation ? `rotate(${rotation} ${roundedNumber(x)} ${roundedNumber(y)})` : undefined;
  if (shape.kind === "image") {
    const { left, top, width, height, png } = shape;
    const href = `data:image/png;base64,${png}`;
    return svgElement(parent, "image", { x: x + left, y: y + top, width, height, href, transform });
  }
  const { size, anchor, bold, fill, text } = shape;
  const weight = bold ? "bold" : undefined;
  return svgElement(
    parent,
    "text",
    { x, y, fill, "font-size": size, "text-anchor": anchor, direction: "ltr", "font-weight": weight, transform },
    text,
  );
}

/** @param {number} number */
function roundedNumber(number) {
  return Number(number.toFixed(3));
}

/** @param {Element} parent @param {CellsShape} options @param {string[]} figureInks */
function svgCells(parent, { x, y, width, height, rows, columns, codes, gap, palette }, figureInks) {
  const inks = palette ?? figureInks;
  if (!gap) {
    const href = cellsCanvas(codes, rows, columns, inks).toDataURL("image/png");
    return svgElement(parent, "image", {
      x,
      y,
      width,
      height,
      href,
      preserveAspectRatio: "none",
      style: "image-rendering: pixelated",
    });
  }
  const group = svgElement(parent, "g", { "shape-rendering": "crispEdges" });
  const [across, down] = [width / columns, height / rows];
  codes.forEach((code, cell) => {
    if (!code) return;
    const box = { x: x + (cell % columns) * across + gap / 2, y: y + Math.floor(cell / columns) * down + gap / 2 };
    svgElement(group, "rect", { ...box, width: across - gap, height: down - gap, fill: inks[code] });
  });
  return group;
}

/** @param {Uint8Array} codes @param {number} rows @param {number} columns @param {string[]} inks */
function cellsCanvas(codes, rows, columns, inks) {
  const canvas = document.createElement("canvas");
  paintCodes(
    canvas,
    codes,
    rows,
    columns,
    Uint32Array.from(inks, (ink) => parseInt(`ff${ink.slice(5, 7)}${ink.slice(3, 5)}${ink.slice(1, 3)}`, 16)),
  );
  return canvas;
}

/**
 * The figure as the text of an SVG file; tokens are text whatever they hold.
 * @param {Figure} options @param {Metadata} metadata
 */
export function figureSvg({ width, height, title, palette, shapes }, { line, fields }) {
  const root = document.createElementNS(SVG_NAMESPACE, "svg");
  const size = {
    width: `${roundedNumber(width)}mm`,
    height: `${roundedNumber(height)}mm`,
    viewBox: `0 0 ${roundedNumber(width)} ${roundedNumber(height)}`,
  };
  for (const [name, value] of Object.entries({ ...size, "font-family": PRINT_FONT })) root.setAttribute(name, value);
  svgElement(root, "title", {}, title);
  svgElement(root, "desc", {}, line);
  svgElement(root, "metadata", {}, fields);
  svgElement(root, "rect", { width, height, fill: PRINT_COLOURS.paper });
  for (const shape of shapes) drawShape(root, shape, palette);
  return new XMLSerializer().serializeToString(root);
}

/** @param {Figure} figure @param {Metadata} metadata */
export async function figurePng(figure, metadata) {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(figureSvg(figure, metadata))}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [figure.width, figure.height].map((side) => Math.round(side * DOTS_PER_MM));
  context2d(canvas).drawImage(picture, 0, 0, canvas.width, canvas.height);
  /** @type {Blob} */
  const png = await new Promise((resolve) => canvas.toBlob((blob) => blob && resolve(blob), "image/png"));
  return addPngTexts(png, { Software: "Headlight", Description: metadata.line, Comment: metadata.fields });
}

/** @param {Uint8Array} bytes */
export function toBase64(bytes) {
  let signs = "";
  for (let start = 0; start < bytes.length; start += 0x8000)
    signs += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  return btoa(signs);
}

/**
 * The figure as the server draws it: codes as base64, and labels that its font lacks as pictures.
 * @param {Figure} options @param {Metadata} metadata
 */
export function pdfRequest({ width, height, title, palette, shapes }, { line, fields }) {
  const encoded = shapes.map((shape) => {
    if (shape.kind === "heatmap") return { ...shape, codes: toBase64(shape.codes) };
    return shape.kind === "text" && !PDF_FONT.test(shape.text) ? textStamp(shape) : shape;
  });
  return { width, height, title, subject: line, keywords: fields, palette, shapes: encoded };
}

/** @param {TextShape} shape @returns {StampShape} */
function textStamp({ x, y, size, text_width, anchor, rotation, bold, fill, text }) {
  const dots = 600 / 25.4;
  const canvas = document.createElement("canvas");
  const [width, height] = [text_width + size, size * 1.6];
  [canvas.width, canvas.height] = [Math.ceil(width * dots), Math.ceil(height * dots)];
  const context = context2d(canvas);
  context.scale(dots, dots);
  context.font = `${bold ? "bold " : ""}${size}px ${PRINT_FONT}`;
  context.fillStyle = fill;
  context.direction = "ltr";
  context.fillText(text, size / 2, size * 1.2);
  const left = { start: 0, middle: -text_width / 2, end: -text_width }[anchor] - size / 2;
  return {
    kind: "image",
    x,
    y,
    rotation,
    left,
    top: -size * 1.2,
    width,
    height,
    png: canvas.toDataURL("image/png").split(",")[1],
  };
}

/**
 * Saves a figure; `writePdf` has the server write what it is given.
 * @param {Figure} figure @param {Metadata} metadata @param {string} name without an ending
 * @param {"svg" | "png" | "pdf"} form @param {(request: object) => Promise<Blob>} writePdf
 * @returns {Promise<string>} what there is to say of it
 */
export async function saveFigure(figure, metadata, name, form, writePdf) {
  const file = `${name}.${form}`;
  if (form === "svg") saveFile(file, "image/svg+xml", figureSvg(figure, metadata));
  else if (form === "png") saveBlob(file, await figurePng(figure, metadata));
  else saveBlob(file, await writePdf(pdfRequest(figure, metadata)));
  return `${file} is saved, ${Math.round(figure.width)} × ${Math.round(figure.height)} mm.`;
}
