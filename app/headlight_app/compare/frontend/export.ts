// Export of the Compare page: the head of both sides, their difference, all distances, the predictions.

import {
  addColourScale,
  addHeatmap,
  addPanels,
  beginFigure,
  colourNames,
  MARGIN,
  titled,
} from "../../ui/frontend/charts/shapes.ts";
import { formatPlaces } from "../../ui/frontend/dom/numbers.ts";
import { createTable, explained, numbered } from "../../ui/frontend/export/page_export.ts";
import type { Figure, ShownFigure, ShownSide, ShownView, Table } from "../../ui/frontend/export/types.ts";
import { addViews } from "../../ui/frontend/views/export/figures.ts";
import { tablesOf } from "../../ui/frontend/views/export/tables.ts";
import type { ViewRow } from "../../ui/frontend/views/types.ts";
import { encodeWeight } from "../../ui/frontend/weight_code.ts";
import type { AttentionPair, Comparison } from "./comparison.ts";
import { weightDifference } from "./difference.ts";
import { sharedTokens } from "./heatmaps.ts";
import type { HeadIndex } from "./types.ts";

/** [query key]; NaN: forbidden. */
type WeightMatrix = { rows: { text: string }[]; columns: { text: string }[]; values: Float32Array };
type Panel = { title: string; matrix: WeightMatrix; codes: Uint8Array; signed: boolean };

type Drawn = { panels: Panel[]; shows: string | undefined; extent: number; rows: ViewRow[] };

const SIDES = [0, 1];
const DISTANCES = "the Jensen–Shannon distance of each head";

/** @param names of the sides, from their differences @param alignment in words */
export function comparedView(
  { comparison, attention, heads }: { comparison: Comparison; attention: AttentionPair; heads: HeadIndex[] },
  names: [string, string],
  alignment: string,
): ShownView {
  const difference = weightDifference(comparison, attention, heads);
  const weights = SIDES.map((side) => sideWeights(comparison, attention, side, heads[side]));
  const { queries, keys } = attention.groups[0];
  const shared = {
    rows: sharedTokens(comparison, queries, difference.queries),
    columns: sharedTokens(comparison, keys, difference.keys),
    values: difference.numbers,
  };
  const title = headsTitle(heads);
  const panels: Panel[] = SIDES.map((side) => ({
    title: `${"AB"[side]}${names[side] ? ` · ${names[side]}` : ""}`,
    matrix: weights[side],
    codes: Uint8Array.from(weights[side].values, encodeWeight),
    signed: false,
  }));
  if (difference.codes.length) panels.push({ title: "B − A", matrix: shared, codes: difference.codes, signed: true });
  const { shows } = attention.groups[0];
  const words = `${title} · ${shows || "attention weights"} of A and B, and B − A where tokens correspond (${alignment})`;
  const figureOf = (parts: Partial<Drawn>, shown: string): ShownFigure => ({
    name: `compare-${fileWords(heads)}`,
    shown,
    draw: (width, heading) =>
      drawComparison(width, heading || title, { panels: [], rows: [], shows, extent: difference.extent, ...parts }),
  });
  const all = figureOf(
    { panels, rows: [...attention.rows, ...comparison.rows] },
    `${words}; ${DISTANCES}; predictions`,
  );
  const tables = {
    "Weights of A": weightTable(`compare A ${fileWords(heads)}`, weights[0]),
    "Weights of B": weightTable(`compare B ${fileWords(heads)}`, weights[1]),
    ...(difference.codes.length ? { "B − A": weightTable(`compare B-A ${fileWords(heads)}`, shared) } : {}),
    ...savedTables(attention, comparison),
  };
  return {
    sides: comparedSides({ comparison, attention, heads }),
    charts: {
      "all panels": () => all,
      ...Object.fromEntries(panels.map((panel) => [panel.title, () => figureOf({ panels: [panel] }, words)])),
      "distances of all heads": () => figureOf({ rows: attention.rows }, DISTANCES),
      predictions: () => figureOf({ rows: comparison.rows }, "predictions of A and B"),
    },
    tables: explained(tables, all.shown),
  };
}

/** The numbers of the distances, and of the predictions at each position of A. */
function savedTables(attention: AttentionPair, comparison: Comparison): Record<string, Table> {
  const names = ["distances", ...comparison.positions.map(([position]) => `predictions ${position}`)];
  const tables = Object.entries(tablesOf([...attention.rows, ...comparison.rows]));
  return Object.fromEntries(
    tables.map(([title, table], place) => [title, { ...table, name: `compare ${names[place]}` }]),
  );
}

export function comparedSides({
  comparison,
  attention,
  heads,
}: {
  comparison: Comparison;
  attention: AttentionPair;
  heads: HeadIndex[];
}) {
  return SIDES.map((side) => describeSide(comparison, attention, side, heads[side]));
}

function headsTitle([one, other]: HeadIndex[]) {
  const same = one.layer === other.layer && one.head === other.head;
  const name = ({ layer, head }: HeadIndex) => `Layer ${layer} · Head ${head}`;
  return same ? name(one) : `${name(one)} of A, ${name(other)} of B`;
}

function fileWords([{ layer, head }]: HeadIndex[]) {
  return `layer${layer}-head${head}`;
}

function sideWeights(comparison: Comparison, { groups }: AttentionPair, side: number, head: HeadIndex): WeightMatrix {
  const group = groups[side];
  const weight = comparison.weights(side, group, head);
  return {
    rows: comparison.tokens(side, group.queries),
    columns: comparison.tokens(side, group.keys),
    values: Float32Array.from({ length: group.rows * group.columns }, (_, cell) =>
      weight(Math.floor(cell / group.columns), cell % group.columns),
    ),
  };
}

function describeSide(
  comparison: Comparison,
  { groups }: AttentionPair,
  side: number,
  { layer, head }: HeadIndex,
): ShownSide {
  const { source } = comparison.questions[side];
  return {
    question: { ...comparison.questions[side] },
    attention_group: groups[side].name,
    heads: [[layer, head]],
    tokens: comparison.tokens(side, "text"),
    source_tokens: source ? comparison.tokens(side, "source") : null,
  };
}

function drawComparison(
  width: number,
  heading: string,
  { panels, shows, extent, rows }: Drawn,
): { figure: Figure; y: number } {
  const { figure, y: top } = beginFigure(width, heading);
  const palette = colourNames(true);
  const maps = panels.map(({ title, matrix, codes, signed }) => {
    const names = { rows: matrix.rows.map(({ text }) => text), columns: matrix.columns.map(({ text }) => text) };
    const map = { ...names, axes: { down: "query", across: "key" }, codes, signed, ...(signed && { palette }) };
    return titled(figure, title, (box) => addHeatmap(figure, map, box));
  });
  let y = addPanels(figure, top, maps, width > 120 ? 3 : 2);
  if (panels.some(({ signed }) => !signed))
    y = addColourScale(
      figure,
      { low: "0", high: "1", words: `${shows || "attention weight"}, square-root scale` },
      MARGIN,
      y,
    );
  const ends = { low: `−${formatPlaces(extent, 2)}`, high: `+${formatPlaces(extent, 2)}` };
  if (panels.some(({ signed }) => signed))
    y = addColourScale(figure, { ...ends, words: "B − A, white at zero", palette }, MARGIN, y);
  return { figure, y: addViews(figure, y + 1, rows, 2) };
}

function weightTable(name: string, { rows, columns, values }: WeightMatrix): Table {
  return createTable(name, { query: numbered(rows), key: numbered(columns) }, values);
}
