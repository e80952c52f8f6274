// A table in a figure for print, with coloured cells; columns that do not fit continue below.

import { inlineText } from "../dom/dom.ts";
import type { Box, Figure } from "../export/types.ts";
import { hexColour, readableInk } from "./colours.ts";
import { addLines, addWords, PRINT_COLOURS, textWidth, wrapText } from "./figure_text.ts";

type PrintedCell = { lines: string[]; fill?: number[]; bold?: boolean }; // `fill`: red, green, blue of the background
type PrintedRow = { label: string; cells: (PrintedCell | undefined)[] };
type PrintedTable = { columns: string[]; rows: PrintedRow[] }; // a column's name may have several lines
type TableSizes = { size: number; label: number; widths: number[]; height: number }; // of text, labels, columns, rows

const LINE = 1.3; // in font sizes
const PADDING = 0.7; // in font sizes, both sides of a cell together
const MOST_CELL = 9; // in font sizes
const [NARROWEST, WIDEST] = [0.8, 1.6]; // relative to the width that the columns need
const MOST_LABEL = 0.3; // of the width
const SHORT_NAME = 5; // in font sizes: the width up to which a column's name is not cut
const SMALL = 0.8; // font size of a cell's second line, relative to the first

/** Returns the table's bottom edge. */
export function addTable(figure: Figure, { columns, rows }: PrintedTable, box: Box) {
  const sizes = sizesOf(figure, { columns, rows }, box);
  let { y } = box;
  for (let first = 0, end = 0; first < columns.length; first = end, y += sizes.size) {
    let x = box.x + sizes.label;
    const places = [];
    for (; end < columns.length && (end === first || x + sizes.widths[end] <= box.x + box.width + 0.01); end++) {
      places.push({ x, width: sizes.widths[end] });
      x += sizes.widths[end];
    }
    const part = rows.map(({ label, cells }) => ({ label, cells: cells.slice(first, end) }));
    const isWhole = end - first === columns.length;
    const shown = part.filter(({ cells }) => isWhole || cells.some(Boolean)); // a mask may leave rows of a part empty
    y = addBlock(figure, { columns: columns.slice(first, end), rows: shown }, sizes, places, { ...box, y });
  }
  return y - sizes.size;
}

/** Columns of texts that wrap, below their names, with a line above each row. Returns the bottom edge. */
export function addTextColumns(figure: Figure, names: string[], rows: string[][], { x, y, width }: Box) {
  const { size, line, thin } = figure.look;
  const step = (width + size) / names.length;
  [names, ...rows].forEach((texts, row) => {
    const stroke = { stroke: line, stroke_width: thin, opacity: 1, dashed: false };
    if (row) figure.shapes.push({ kind: "polyline", points: [x, y, x + width, y], ...stroke });
    const ends = texts.map((text, column) => {
      const lines = wrapText(text, size, step - size, !row);
      return addLines(figure, lines, x + column * step, y, { bold: !row });
    });
    y = Math.max(...ends) + 0.4 * size;
  });
  return y;
}

function sizesOf({ look: { size } }: Figure, { columns, rows }: PrintedTable, box: Box): TableSizes {
  const widest = Math.max(...rows.map(({ label }) => textWidth(inlineText(label), size))) + size;
  const label = Math.min(widest, box.width * MOST_LABEL);
  const cells = rows.flatMap((row) => row.cells);
  const lines = Math.max(...cells.map((cell) => cell?.lines.length ?? 0), 1);
  const needed = (words: string[]) => {
    const most = Math.max(...words.map((line) => textWidth(inlineText(line), size)), 1.5 * size);
    return Math.min(most + PADDING * size, MOST_CELL * size, box.width - label);
  };
  const cellsOf = columns.map((_, column) => rows.flatMap((row) => row.cells[column]?.lines ?? []));
  const whole = columns.map((name, column) => needed([...name.split("\n"), ...cellsOf[column]]));
  const least = whole.map((width, column) => Math.max(needed(cellsOf[column]), Math.min(width, SHORT_NAME * size)));
  const { scale, widths } = fitted(whole, least, box.width - label);
  return { size: size * scale, label, widths, height: ((1 + (lines - 1) * SMALL) * LINE + 0.2) * size * scale };
}

/**
 * Columns of a narrow table are widened. If a table is slightly too wide, the longest column names are cut, then all
 * text is made smaller, to avoid a second part; the text in cells is never cut.
 * @param least the smallest widths allowed
 */
function fitted(widths: number[], least: number[], room: number) {
  const total = (parts: number[]) => parts.reduce((sum, width) => sum + width, 0);
  const share = room / total(widths);
  if (share >= 1) return { scale: 1, widths: widths.map((width) => width * Math.min(share, WIDEST)) };
  if (share < NARROWEST) return { scale: 1, widths };
  const scale = Math.min(room / total(least), 1);
  const cut = (most: number) => widths.map((width, column) => Math.max(Math.min(width, most), least[column]) * scale);
  let most = Math.max(...widths);
  while (most > 0 && total(cut(most)) > room + 0.001) most *= 0.97;
  return { scale, widths: cut(most) };
}

/** Some columns of a table, with all its rows. @param places of the columns */
function addBlock(
  figure: Figure,
  { columns, rows }: PrintedTable,
  { size, label: beside, height }: TableSizes,
  places: { x: number; width: number }[],
  box: Box,
) {
  const names = columns.map((name) => name.split("\n"));
  const top = box.y + size * LINE * Math.max(...names.map((lines) => lines.length));
  names.forEach((lines, column) => {
    const { x, width } = places[column];
    const middle = { anchor: "middle" as const, room: width - 0.2 * size, fill: PRINT_COLOURS.quiet };
    lines.toReversed().forEach((words, up) => {
      addWords(figure, inlineText(words), x + width / 2, top - (0.35 + up * LINE) * size, middle);
    });
  });
  rows.forEach(({ label, cells }, row) => {
    const y = top + row * height;
    const named = { anchor: "end" as const, room: beside - 0.5 * size, fill: PRINT_COLOURS.quiet };
    addWords(figure, inlineText(label), box.x + beside - 0.5 * size, y + height / 2 + 0.35 * size, named);
    cells.forEach((cell, column) => {
      if (cell) addCell(figure, cell, { size, height }, { ...places[column], y });
    });
  });
  return top + rows.length * height;
}

function addCell(
  figure: Figure,
  { lines, fill, bold }: PrintedCell,
  { size, height }: { size: number; height: number },
  { x, y, width }: Box,
) {
  const gap = { x: x + 0.1, y: y + 0.1, width: width - 0.2, height: height - 0.2 };
  if (fill) figure.shapes.push({ kind: "rectangle", ...gap, fill: hexColour(fill) });
  const ink = fill && readableInk(fill) === "#fff" ? PRINT_COLOURS.paper : PRINT_COLOURS.ink;
  lines.forEach((line, place) => {
    const words = { anchor: "middle" as const, room: width - 0.4 * size, fill: ink, bold: bold && !place };
    const base = y + (place ? LINE + (place - 0.2) * SMALL * LINE : 1.1) * size;
    addWords(figure, inlineText(line), x + width / 2, base, { ...words, size: place ? size * SMALL : size });
  });
}
