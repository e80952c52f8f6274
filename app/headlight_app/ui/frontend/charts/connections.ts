// Two columns of tokens with lines between them, on the screen and in figures.

import { inlineText } from "../dom/dom.ts";
import type { Box, Figure } from "../export/types.ts";
import { addWords } from "./figure_text.ts";
import { longestName } from "./heatmap.ts";

export type TokenColumn = { title: string; names: string[]; hot?: number[] }; // `hot`: the highlighted ones, by index
export type Connection = {
  row: number;
  column: number;
  strength: number;
  stroke: string;
  opacity: number;
  dashed: boolean;
};
/** The ends of the lines, the distance between tokens, and the font size of their names. */
export type ConnectionsLayout = {
  x: number;
  width: number;
  left: number;
  right: number;
  top: number;
  step: number;
  size: number;
};

const [PADDING, GAP] = [0.9, 0.5]; // beside the names, and from a name to its lines, in font sizes
const MOST_NAMES = 0.34; // of the width, on each side
const [THIN, THICKER] = [0.045, 0.3]; // width of the thinnest line, and the increase at full strength, in font sizes

export function layoutConnections(
  sides: TokenColumn[],
  { x, y, width }: Box,
  { step, size }: { step: number; size: number },
): ConnectionsLayout {
  const [left, right] = sides.map(({ title, names }) =>
    Math.min(longestName([title, ...names.map(inlineText)], size) + PADDING * size, width * MOST_NAMES),
  );
  return { x, width, left: x + left, right: x + width - right, top: y + 2 * size, step, size };
}

/** @returns its height on the sheet */
function heightOfLine({ top, step }: ConnectionsLayout, line: number): number {
  return top + (line + 0.5) * step;
}

/** Returns the bottom edge. @param lines in the order in which they are drawn */
export function addConnections(
  figure: Figure,
  layout: ConnectionsLayout,
  [rows, columns]: [TokenColumn, TokenColumn],
  lines: Connection[],
) {
  const { look } = figure;
  const { left, right } = layout;
  const middle = (left + right) / 2;
  for (const { row, column, strength, ...style } of lines) {
    const [from, to] = [heightOfLine(layout, row), heightOfLine(layout, column)];
    const points = [left, from, middle, from, middle, to, right, to];
    figure.shapes.push({ kind: "curve", points, stroke_width: (THIN + THICKER * strength) * look.size, ...style });
  }
  addColumn(figure, layout, rows, { x: left - GAP * layout.size, anchor: "end" });
  addColumn(figure, layout, columns, { x: right + GAP * layout.size, anchor: "start" });
  return heightOfLine(layout, Math.max(rows.names.length, columns.names.length) - 0.5);
}

function addColumn(
  figure: Figure,
  layout: ConnectionsLayout,
  { title, names, hot = [] }: TokenColumn,
  { x, anchor }: { x: number; anchor: "start" | "end" },
) {
  const { ink, quiet } = figure.look;
  const { size, step, top } = layout;
  const room = anchor === "end" ? x - layout.x : layout.x + layout.width - x;
  addWords(figure, title, x, top - 0.9 * size, { anchor, room, fill: quiet });
  const every = Math.max(Math.ceil((0.9 * size) / step), 1);
  names.forEach((name, line) => {
    const isHot = hot.includes(line);
    if (line % every && !isHot) return;
    const look = { size, bold: isHot, fill: isHot || !hot.length ? ink : quiet };
    addWords(figure, inlineText(name), x, heightOfLine(layout, line) + 0.35 * size, { anchor, room, ...look });
  });
}
