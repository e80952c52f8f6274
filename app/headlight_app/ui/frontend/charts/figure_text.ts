// Lines of text in a figure for print or for the screen: measured here, so that every program lays them out equally.

import { context2d, shortenText } from "../dom/dom.ts";
import { remembered } from "../dom/memory.ts";
import type { CanvasStyle, Figure, Look, TextLine } from "../types.ts";
import { HEAD_COLOURS } from "./colours.ts";

export const LABEL_SIZE = 2.3; // millimetres; 6.5 points
export const PRINT_COLOURS: Look = {
  ink: "#16181d",
  quiet: "#565b66",
  line: "#b9bcc4",
  beam: "#c47a0a",
  minus: "#2f6fb0",
  ground: "#eceae5",
  paper: "#ffffff",
  size: LABEL_SIZE,
  thin: 0.15,
  thick: 0.35,
};
/** In pixels, and in the colours of the theme. */
export const SCREEN_LOOK: Look = {
  ink: "var(--ink)",
  quiet: "var(--quiet)",
  line: "color-mix(in srgb, var(--ink) 45%, var(--surface))",
  beam: HEAD_COLOURS[0],
  minus: "var(--minus)",
  ground: "var(--line)",
  paper: "var(--surface)",
  size: 12,
  thin: 1,
  thick: 2.5,
};
/** Screen sizes and print colours: `addDrawing` scales such a drawing to a figure's size. */
export const PRINT_SHEET: Look = {
  ...PRINT_COLOURS,
  size: SCREEN_LOOK.size,
  thin: SCREEN_LOOK.thin,
  thick: SCREEN_LOOK.thick,
};
export const PRINT_FONT = "Helvetica, Arial, sans-serif";
export const LINE_HEIGHT = 1.35; // in font sizes
const ISOLATES = /[\u2066-\u2069]/g; // around tokens in a sentence, whose direction may be another one
const HEADING_SIZE = 2.9;
const FOOT_SIZE = 1.8;
const measuringContext = remembered((page: Document) => context2d(page.createElement("canvas")));

/** The page's own colours, for a canvas. */
export function lookOf({ ink, quiet, line, beam, minus, raised, surface, type }: CanvasStyle): Look {
  return { ink, quiet, line, beam, minus, ground: raised, paper: surface, size: 12 * type, thin: 1, thick: 2 };
}

/** A figure in pixels; `words` describe it. */
export function beginSheet(width: number, words: string, look: Look = SCREEN_LOOK): Figure {
  return { width, height: 0, title: words, palette: [], shapes: [], look };
}

export function textWidth(text: string, size: number, bold: boolean = false) {
  const context = measuringContext(document);
  context.font = `${bold ? "bold " : ""}100px ${PRINT_FONT}`;
  return (context.measureText(text).width * size) / 100;
}

/** For a program that would draw isolates, which have no width, as boxes. */
export function withoutIsolates(text: string) {
  return text.replace(ISOLATES, "");
}

export function fitText(text: string, size: number, width: number) {
  return shortenText(text, width, (words) => textWidth(words, size));
}

/** Lines of text below each other. Returns the y coordinate of the next line. */
export function addLines(
  figure: Figure,
  lines: string[],
  x: number,
  y: number,
  options: { size?: number; bold?: boolean; fill?: string } = {},
) {
  const { size = figure.look.size, bold = false, fill = figure.look.ink } = options;
  for (const text of lines) {
    y += size * LINE_HEIGHT;
    pushText(figure, { x, y: y - size * 0.3, size, anchor: "start", rotation: 0, bold, fill, text });
  }
  return y;
}

function pushText({ shapes }: Figure, shape: Omit<TextLine, "kind" | "text_width">) {
  shapes.push({ kind: "text", ...shape, text_width: textWidth(shape.text, shape.size, shape.bold) });
}

/** Wraps a text into lines of at most `width`; a longer word is broken between its letters. */
export function wrapText(text: string, size: number, width: number, bold: boolean = false): string[] {
  const fits = (words: string) => textWidth(words, size, bold) <= width;
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (fits(longer)) lines[lines.length - 1] = longer;
    else lines.push(...breakWord(word, fits));
  }
  return lines[0] ? lines : lines.slice(1);
}

function breakWord(word: string, fits: (text: string) => boolean): string[] {
  const pieces = [""];
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    if (!pieces.at(-1) || fits(pieces.at(-1) + segment)) pieces[pieces.length - 1] += segment;
    else pieces.push(segment);
  }
  return pieces;
}

type LabelOptions = {
  size?: number;
  anchor: TextLine["anchor"];
  turn?: number;
  room: number;
  bold?: boolean;
  fill?: string;
};

/** One line of text, cut to the width `room`. */
export function addWords(figure: Figure, words: string, x: number, y: number, options: LabelOptions) {
  const { size = figure.look.size, anchor, turn = 0, room, bold = false, fill = figure.look.ink } = options;
  pushText(figure, { x, y, size, anchor, rotation: turn, bold, fill, text: fitText(words, size, room) });
}

/** The title, if there is one. Returns the y coordinate below it. */
export function addTitle(figure: Figure) {
  if (!figure.title) return 2;
  const lines = wrapText(figure.title, HEADING_SIZE, figure.width - 4, true);
  return addLines(figure, lines, 2, 2, { size: HEADING_SIZE, bold: true });
}

/** The lines beneath a figure: its rules, and its provenance if wanted. Sets the figure's height. */
export function addFoot(figure: Figure, rules: string[], foot: string[], y: number) {
  const { width } = figure;
  const fill = PRINT_COLOURS.quiet;
  y = addLines(figure, wrapText(rules.join(" · "), LABEL_SIZE, width - 4), 2, y + 0.5, { fill });
  for (const line of foot.filter(Boolean))
    y = addLines(figure, wrapText(line, FOOT_SIZE, width - 4), 2, y + 0.5, { size: FOOT_SIZE, fill });
  figure.height = y + 1.5;
}
