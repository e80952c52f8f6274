// The size of a figure: on paper, the chosen width and any height; on a slide, within its frame.

import { addFoot, beginSheet, PRINT_COLOURS } from "../charts/figure_text.ts";
import { addScaled } from "../charts/shapes.ts";
import { table } from "../dom/table.ts";
import type { Figure, ShownFigure } from "./types.ts";

export type FigureSize = { width: number; height?: number }; // millimetres

export const FIGURE_SIZES: Readonly<Record<string, FigureSize>> = table({
  85: { width: 85 },
  180: { width: 180 },
  "16:9": { width: 162.56, height: 91.44 }, // 1920 × 1080 dots
  "1:1": { width: 91.44, height: 91.44 },
});
const WIDTHS = Array.from({ length: 16 }, (_, step) => 50 * 1.14 ** step); // to try for a drawing on a slide
const LARGEST = 2.2; // relative to the size on paper
const LEAST_SHARE = 0.8; // of the largest font size that fits on a slide
const BESIDE = 0.27; // of a wide slide's width, for the text beside the drawing

/** A drawing with its title and, at its foot, its description and origin. */
export function layOutFigure(
  drawing: ShownFigure,
  title: string,
  origin: string[],
  { width, height }: FigureSize,
): Figure {
  if (height) return layOutSlide(drawing, title, origin, { width, height });
  const { figure, y } = drawing.draw(width, title);
  addFoot(figure, [drawing.brief ?? drawing.shown], origin, y);
  return figure;
}

/** The same on a slide, with the text below the drawing or at its left, whichever leaves the drawing larger. */
function layOutSlide(drawing: ShownFigure, title: string, origin: string[], slide: Required<FigureSize>) {
  const drawn = WIDTHS.map((width) => drawing.draw(width, title));
  const shares = slide.width > slide.height ? [1, BESIDE] : [1];
  const arranged = shares.map((share) => arrange(drawn, footOf(drawing, origin, share * slide.width), slide));
  const { foot, figure, y, area, scale } = arranged.reduce((one, other) => (other.scale > one.scale ? other : one));
  const sheet: Figure = { ...figure, ...slide, shapes: [] };
  const corner = { x: area.x + (area.width - figure.width * scale) / 2, y: (area.height - y * scale) / 2 };
  addScaled(sheet, figure, scale, corner);
  addScaled(sheet, foot, 1, { x: 0, y: slide.height - foot.height });
  return sheet;
}

function footOf(drawing: ShownFigure, origin: string[], width: number) {
  const foot = beginSheet(width, "", PRINT_COLOURS);
  addFoot(foot, [drawing.brief ?? drawing.shown], origin, 0);
  return foot;
}

/**
 * Of several drawings, the widest one whose font size is near the largest possible.
 * @param foot as wide as the slide if it goes below
 */
function arrange(drawn: { figure: Figure; y: number }[], foot: Figure, { width, height }: Required<FigureSize>) {
  const isBelow = foot.width === width;
  const area = isBelow
    ? { x: 0, width, height: height - foot.height }
    : { x: foot.width, width: width - foot.width, height };
  const scaled = drawn.map(({ figure, y }) => {
    return { figure, y, foot, area, scale: Math.min(area.width / figure.width, area.height / y, LARGEST) };
  });
  const best = Math.max(...scaled.map(({ scale }) => scale));
  return scaled.findLast(({ scale }) => scale >= LEAST_SHARE * best) ?? scaled[0];
}
