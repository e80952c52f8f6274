// Lines of text in a figure for print or for the screen: measured here, so that every program lays them out equally.

import { context2d, shortenText } from "../dom/dom.js";
import { remembered } from "../dom/memory.js";
import { HEAD_COLOURS } from "./colours.js";

/** @import { CanvasStyle, Figure, Look, TextLine } from "../types.js" */

export const LABEL_SIZE = 2.3; // millimetres; 6.5 points
/** @type {Look} */
export const PRINT_COLOURS = {
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
/** In pixels, and in the colours of the theme. @type {Look} */
export const SCREEN_LOOK = {
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
/** Screen sizes and print colours: `addDrawing` scales such a drawing to a figure's size. @type {Look} */
export const PRINT_SHEET = {
  ...PRINT_COLOURS,
  size: SCREEN_LOOK.size,
  thin: SCREEN_LOOK.thin,
  thick: SCREEN_LOOK.thick,
};
export const PRINT_FONT = "Helvetica, Arial, sans-serif";
export const LINE_HEIGHT = 1.35; // in font sizes
const HEADING_SIZE = 2.9;
const FOOT_SIZE = 1.8;
const measuringContext = remembered((/** @type {Document} */ page) => context2d(page.createElement("canvas")));

/** The page's own colours, for a canvas. @param {CanvasStyle} style @returns {Look} */
export function lookOf({ ink, quiet, line, beam, minus, raised, surface, type }) {
  return { ink, quiet, line, beam, minus, ground: raised, paper: surface, size: 12 * type, thin: 1, thick: 2 };
}

/**
 * A figure in pixels; `words` describe it.
 * @param {number} width @param {string} words @param {Look} [look] @returns {Figure}
 */
export function beginSheet(width, words, look = SCREEN_LOOK) {
  return { width, height: 0, title: words, palette: [], shapes: [], look };
}

/** @param {string} text @param {number} size @param {boolean} [bold] */
export function textWidth(text, size, bold = false) {
  const context = measuringContext(document);
  context.font = `${bold ? "bold " : ""}100px ${PRINT_FONT}`;
  return (context.measureText(text).width * size) / 100;
}

/** @param {string} text @param {number} size @param {number} width */
export function fitText(text, size, width) {
  return shortenText(text, width, (words) => textWidth(words, size));
}

/**
 * Lines of text below each other. Returns the y coordinate of the next line.
 * @param {Figure} figure @param {string[]} lines @param {number} x @param {number} y
 * @param {{ size?: number, bold?: boolean, fill?: string }} [options]
 */
export function addLines(figure, lines, x, y, options = {}) {
  const { size = figure.look.size, bold = false, fill = figure.look.ink } = options;
  for (const text of lines) {
    y += size * LINE_HEIGHT;
    pushText(figure, { x, y: y - size * 0.3, size, anchor: "start", rotation: 0, bold, fill, text });
  }
  return y;
}

/** @param {Figure} figure @param {Omit<TextLine, "kind" | "text_width">} shape */
function pushText({ shapes }, shape) {
  shapes.push({ kind: "text", ...shape, text_width: textWidth(shape.text, shape.size, shape.bold) });
}

/**
 * Wraps a text into lines of at most `width`; a longer word is broken between its letters.
 * @param {string} text @param {number} size @param {number} width @param {boolean} [bold] @returns {string[]}
 */
export function wrapText(text, size, width, bold = false) {
  const fits = (/** @type {string} */ words) => textWidth(words, size, bold) <= width;
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (fits(longer)) lines[lines.length - 1] = longer;
    else lines.push(...breakWord(word, fits));
  }
  return lines[0] ? lines : lines.slice(1);
}

/** @param {string} word @param {(text: string) => boolean} fits @returns {string[]} */
function breakWord(word, fits) {
  const pieces = [""];
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    if (!pieces.at(-1) || fits(pieces.at(-1) + segment)) pieces[pieces.length - 1] += segment;
    else pieces.push(segment);
  }
  return pieces;
}

/** @typedef {{ size?: number, anchor: TextLine["anchor"], turn?: number, room: number, bold?: boolean, fill?: string }} LabelOptions */

/**
 * One line of text, cut to the width `room`.
 * @param {Figure} figure @param {string} words @param {number} x @param {number} y @param {LabelOptions} options
 */
export function addWords(figure, words, x, y, options) {
  const { size = figure.look.size, anchor, turn = 0, room, bold = false, fill = figure.look.ink } = options;
  pushText(figure, { x, y, size, anchor, rotation: turn, bold, fill, text: fitText(words, size, room) });
}

/** The title, if there is one. Returns the y coordinate below it. @param {Figure} figure */
export function addTitle(figure) {
  if (!figure.title) return 2;
  const lines = wrapText(figure.title, HEADING_SIZE, figure.width - 4, true);
  return addLines(figure, lines, 2, 2, { size: HEADING_SIZE, bold: true });
}

/**
 * The lines beneath a figure: its rules, and its provenance if wanted. Sets the figure's height.
 * @param {Figure} figure @param {string[]} rules @param {string[]} foot @param {number} y
 */
export function addFoot(figure, rules, foot, y) {
  const { width } = figure;
  const fill = PRINT_COLOURS.quiet;
  y = addLines(figure, wrapText(rules.join(" · "), LABEL_SIZE, width - 4), 2, y + 0.5, { fill });
  for (const line of foot.filter(Boolean))
    y = addLines(figure, wrapText(line, FOOT_SIZE, width - 4), 2, y + 0.5, { size: FOOT_SIZE, fill });
  figure.height = y + 1.5;
}
