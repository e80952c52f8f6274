// Figures as files: SVG and PNG are made here, PDF by the server from the same shapes.

import { PRINT_COLOURS, PRINT_FONT, withoutIsolates } from "../charts/figure_text.ts";
import { roundedNumber, shapeElement, svg } from "../charts/svg.ts";
import { saveBlob, saveFile } from "../dom/clipboard.ts";
import { context2d } from "../dom/dom.ts";
import type { ExportPdfRequest, Figure, Metadata, Stamp, TextLine } from "../types.ts";
import { addPngTexts } from "./png_texts.ts";

const DOTS_PER_MM = 300 / 25.4; // of a PNG
const PDF_FONT = /^[\x20-\x7e\xa0-\xff‘’“”–—…•€]*$/; // the characters in the PDF's font; texts with others are sent as pictures

/** The text of an SVG file; tokens are escaped. */
export function figureSvg({ width, height, title, palette, shapes }: Figure, { line, fields }: Metadata) {
  const [across, down] = [roundedNumber(width), roundedNumber(height)];
  const size = { width: `${across}mm`, height: `${down}mm`, viewBox: `0 0 ${across} ${down}` };
  const root = svg("svg", { ...size, "font-family": PRINT_FONT }, [
    svg("title", {}, [title]),
    svg("desc", {}, [line]),
    svg("metadata", {}, [fields]),
    svg("rect", { width, height, fill: PRINT_COLOURS.paper }),
    ...shapes.map((shape) => shapeElement(shape, palette)),
  ]);
  return new XMLSerializer().serializeToString(root);
}

async function figurePng(figure: Figure, metadata: Metadata) {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(figureSvg(figure, metadata))}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [figure.width, figure.height].map((side) => Math.round(side * DOTS_PER_MM));
  context2d(canvas).drawImage(picture, 0, 0, canvas.width, canvas.height);
  const png: Blob = await new Promise((resolve) => canvas.toBlob((blob) => blob && resolve(blob), "image/png"));
  return addPngTexts(png, { Software: "Headlight", Description: metadata.line, Comment: metadata.fields });
}

export function toBase64(bytes: Uint8Array) {
  let signs = "";
  for (let start = 0; start < bytes.length; start += 0x8000)
    signs += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  return btoa(signs);
}

/** The request for a PDF: codes as base64, and labels with characters missing in the PDF's font as pictures. */
function pdfRequest({ width, height, title, palette, shapes }: Figure, { line, fields }: Metadata): ExportPdfRequest {
  const encoded = shapes.map((shape) => {
    if (shape.kind === "heatmap") return { ...shape, codes: toBase64(shape.codes), palette: shape.palette ?? null };
    if (shape.kind === "rectangle" || shape.kind === "circle")
      return { fill: "", stroke: "", stroke_width: 0, ...shape };
    if (shape.kind !== "text") return shape;
    const text = withoutIsolates(shape.text);
    return PDF_FONT.test(text) ? { ...shape, text } : textStamp(shape);
  });
  return { figure: { width, height, title, subject: line, keywords: fields, palette, shapes: encoded } };
}

function textStamp({ x, y, size, text_width, anchor, rotation, bold, fill, text }: TextLine): Stamp {
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
 * Saves a figure; `writePdf` requests the PDF from the server.
 * @param name without extension @returns a message about it
 */
export async function saveFigure(
  figure: Figure,
  metadata: Metadata,
  name: string,
  form: "svg" | "png" | "pdf",
  writePdf: (request: ExportPdfRequest) => Promise<Blob>,
): Promise<string> {
  const file = `${name}.${form}`;
  if (form === "svg") saveFile(file, "image/svg+xml", figureSvg(figure, metadata));
  else if (form === "png") saveBlob(file, await figurePng(figure, metadata));
  else saveBlob(file, await writePdf(pdfRequest(figure, metadata)));
  return `${file} is saved, ${Math.round(figure.width)} × ${Math.round(figure.height)} mm.`;
}
