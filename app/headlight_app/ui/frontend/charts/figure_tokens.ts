// Tokens in a figure for print, as coloured chips that wrap into lines, each with notes beneath.

import { inlineText } from "../dom/dom.ts";
import type { Box, Figure } from "../export/types.ts";
import { addWords, LABEL_SIZE, PRINT_COLOURS, textWidth } from "./figure_text.ts";

type PrintedToken = { text: string; beneath: string[]; fill: string; ink?: string; bold?: boolean };

const NOTE_SIZE = LABEL_SIZE * 0.82;
const LINE = 1.3; // in font sizes
const [PADDING, GAP] = [1, 1]; // millimetres inside a chip and between chips

/** Returns the bottom edge of the last line. */
export function addTokens(figure: Figure, tokens: PrintedToken[], box: Box) {
  const height = LABEL_SIZE * LINE + Math.max(0, ...tokens.map(({ beneath }) => beneath.length)) * NOTE_SIZE * LINE + 1;
  let [x, y] = [box.x, box.y + GAP];
  for (const { text, beneath, fill, ink = PRINT_COLOURS.ink, bold } of tokens) {
    const name = inlineText(text);
    const widest = Math.max(
      textWidth(name, LABEL_SIZE, bold),
      ...beneath.map((note) => textWidth(note, NOTE_SIZE)),
      LABEL_SIZE,
    );
    const width = Math.min(widest + 2 * PADDING, box.width);
    if (x > box.x && x + width > box.x + box.width) [x, y] = [box.x, y + height + GAP];
    const stroke = { stroke: PRINT_COLOURS.line, stroke_width: 0.15 };
    figure.shapes.push({ kind: "rectangle", x, y, width, height, fill, ...stroke });
    const middle = { anchor: "middle" as const, room: width, fill: ink };
    addWords(figure, name, x + width / 2, y + LABEL_SIZE * 1.1, { ...middle, bold });
    beneath.forEach((note, line) => {
      const base = y + LABEL_SIZE * LINE + (line + 0.8) * NOTE_SIZE * LINE;
      addWords(figure, note, x + width / 2, base, { ...middle, size: NOTE_SIZE });
    });
    x += width + GAP;
  }
  return y + height;
}
