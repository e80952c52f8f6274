// All heads of an attention as a figure for print, with each layer's numbers beside its heads.

import { addTable } from "../../../ui/frontend/charts/figure_table.ts";
import { addWords, LABEL_SIZE, PRINT_COLOURS, textWidth } from "../../../ui/frontend/charts/figure_text.ts";
import { addColourScale, beginFigure, cellGap, MARGIN } from "../../../ui/frontend/charts/shapes.ts";
import { beyondEnd, formatHigh } from "../../../ui/frontend/state/colour_range.ts";
import type { ColourRangeRow, Figure, LayerColumn, Shape } from "../types.ts";

/** The heads: the byte codes of each, or null if it is off, and the weight of the strongest colour. */
interface OverviewHeads {
  layers: number;
  heads: number;
  cells: (layer: number, head: number) => { codes: Uint8Array; rows: number; columns: number } | null;
  range: ColourRangeRow;
  high: number;
}
/** The layout: the title lines end at `titlesEnd`, where the embedding's row begins; the layers begin at `top`. */
interface Layout {
  text: number; // the font size
  titlesEnd: number;
  top: number;
  left: number; // of the heads
  size: number; // a head's side
  step: number; // from layer to layer
  columns: { x: number; width: number }[];
}

const HEAD_GAP = 0.8; // millimetres
const COLUMN_GAP = 2.6;
const LABEL_GAP = 1.5; // between a label and its head or layer
const MAX_HEIGHT = 230; // of all layers
const [MIN_HEAD, MAX_HEAD] = [1.4, 14]; // a side
const SMALLEST_BESIDE = 5; // minimum side of a head with numbers beside it
const NARROW = 120; // narrower figures have smaller letters, to leave room for the heads
const LINE = 1.3; // relative to the font size

/** Draws the numbers beside the heads, or below them if the heads would be too small. */
export function createOverview(
  heads: OverviewHeads,
  columns: LayerColumn[],
  { width, title }: { width: number; title: string },
) {
  const { figure, y: begin } = beginFigure(width, title);
  const isBeside = layoutOverview({ ...figure }, heads, columns, 0).size >= SMALLEST_BESIDE;
  const beside = isBeside ? columns : [];
  const layout = layoutOverview(figure, heads, beside, begin);
  addIndices(figure, heads, layout);
  beside.forEach((column, place) => {
    addColumn(figure, column, layout, place);
  });
  for (let layer = 0; layer < heads.layers; layer++) addHeads(figure, heads, layout, layer);
  const high = `${formatHigh(heads.high)}${beyondEnd(heads.range)}`;
  const y = layout.top + heads.layers * layout.step + 1;
  const end = addColourScale(figure, { low: "0", high, words: "square-root scale" }, MARGIN, y);
  if (isBeside) return { figure, y: end };
  const rows = ["embedding", ...Array.from({ length: heads.layers }, (_, layer) => `layer ${layer}`)].map(
    (label, row) => ({
      label,
      cells: columns.map(({ embedding, layers }) =>
        row || embedding ? { lines: [row ? layers[row - 1] : embedding] } : undefined,
      ),
    }),
  );
  const table = { columns: columns.map(({ title }) => title), rows };
  return { figure, y: addTable(figure, table, { x: MARGIN, y: end + 1, width: figure.width - 2 * MARGIN }) };
}

/** The layout for the requested width, or wider if the heads would be too small. */
function layoutOverview(figure: Figure, { layers, heads }: OverviewHeads, columns: LayerColumn[], y: number): Layout {
  const text = figure.width < NARROW ? LABEL_SIZE * 0.8 : LABEL_SIZE;
  const widths = columns.map(({ title, embedding, layers: numbers }) =>
    Math.max(...[...title.split("\n"), embedding, ...numbers].map((words) => textWidth(words, text))),
  );
  const left = 2 + textWidth(columns.length ? "embedding" : "layer 00", text) + LABEL_GAP;
  const beside = widths.reduce((sum, width) => sum + width + COLUMN_GAP, 0);
  const room = (figure.width - left - beside - 2) / heads - HEAD_GAP;
  const size = Math.max(Math.min(room, MAX_HEAD, MAX_HEIGHT / layers), MIN_HEAD);
  let x = left + heads * (size + HEAD_GAP);
  const places = widths.map((width) => {
    const place = { x: x + COLUMN_GAP, width };
    x += width + COLUMN_GAP;
    return place;
  });
  figure.width = Math.max(figure.width, x + 2);
  const titlesEnd = y + 1 + Math.max(1, ...columns.map(({ title }) => title.split("\n").length)) * text * LINE;
  const top = titlesEnd + (columns.length ? text * LINE : 0) + HEAD_GAP;
  return { text, titlesEnd, top, left, size, step: Math.max(size + HEAD_GAP, text * LINE), columns: places };
}

/** The baseline of a layer's text; layer -1 is the embedding. */
function baseLine({ text, titlesEnd, top, step, size }: Layout, layer: number) {
  return (layer < 0 ? titlesEnd + (text * LINE) / 2 : top + layer * step + size / 2) + text * 0.35;
}

/** The numbers of layers and heads. */
function addIndices(figure: Figure, { heads, layers }: OverviewHeads, layout: Layout) {
  const { text, left, size, titlesEnd, columns } = layout;
  const fill = PRINT_COLOURS.quiet;
  const beside = (name: string, y: number) =>
    addWords(figure, name, left - LABEL_GAP, y, { size: text, anchor: "end", room: left, fill });
  const y = titlesEnd - (text * LINE) / 2 + text * 0.35;
  beside("head", y);
  const every = Math.ceil(text / (size + HEAD_GAP));
  for (let head = 0; head < heads; head += every) {
    const x = left + head * (size + HEAD_GAP) + size / 2;
    addWords(figure, String(head), x, y, { size: text, anchor: "middle", room: text * 3, fill });
  }
  if (columns.length) beside("embedding", baseLine(layout, -1));
  for (let layer = 0; layer < layers; layer++) beside(`layer ${layer}`, baseLine(layout, layer));
}

/** The heads of one layer; a head that is off is an empty, crossed square. */
function addHeads(
  figure: Figure,
  { heads, cells, high }: OverviewHeads,
  { left, top, size, step }: Layout,
  layer: number,
) {
  const y = top + layer * step;
  const fitted = Uint8Array.from({ length: 256 }, (_, code) => code && Math.min(1 + (code - 1) / Math.sqrt(high), 255));
  for (let head = 0; head < heads; head++) {
    const x = left + head * (size + HEAD_GAP);
    const box = { x, y, width: size, height: size };
    const shown = cells(layer, head);
    if (shown) {
      const codes = shown.codes.map((code) => fitted[code]);
      figure.shapes.push({ kind: "heatmap", ...box, ...shown, codes, gap: cellGap(size / shown.columns) });
    } else figure.shapes.push(line([x, y + size, x + size, y]));
    figure.shapes.push({ kind: "rectangle", ...box, stroke: PRINT_COLOURS.line, stroke_width: 0.15 });
  }
}

function line(points: number[]): Shape {
  return { kind: "curve", points, stroke: PRINT_COLOURS.quiet, stroke_width: 0.15, opacity: 1, dashed: false };
}

function addColumn(
  figure: Figure,
  { title, embedding, layers, align: anchor }: LayerColumn,
  layout: Layout,
  place: number,
) {
  const { x, width } = layout.columns[place];
  const { text: size, titlesEnd } = layout;
  const write = (text: string, y: number, fill?: string) =>
    addWords(figure, text, anchor === "end" ? x + width : x, y, { size, anchor, room: width + 1, fill });
  title
    .split("\n")
    .reverse()
    .forEach((words, up) => {
      write(words, titlesEnd - (up + 0.5) * size * LINE + size * 0.35, PRINT_COLOURS.quiet);
    });
  for (const [row, text] of [embedding, ...layers].entries()) if (text) write(text, baseLine(layout, row - 1));
}
