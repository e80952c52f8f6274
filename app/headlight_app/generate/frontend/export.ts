// Export of the Generate page: the attention of each step, and the candidates of the current step.

import { addLines, LABEL_SIZE, wrapText } from "../../ui/frontend/charts/figure_text.ts";
import { addColourScale, addHeatmap, beginFigure, MARGIN } from "../../ui/frontend/charts/shapes.ts";
import { table } from "../../ui/frontend/dom/table.ts";
import { createTable, explained, numbered } from "../../ui/frontend/export/page_export.ts";
import type { Figure, ShownFigure, ShownSide, ShownView, Table } from "../../ui/frontend/export/types.ts";
import { addViews, drawViews } from "../../ui/frontend/views/export/figures.ts";
import { tablesOf } from "../../ui/frontend/views/export/tables.ts";
import type { ViewRow } from "../../ui/frontend/views/types.ts";
import type { StepRow } from "./attention_rows.ts";
import { attentionRow, blendTitle, groupOf, stepCodes, stepRows } from "./attention_rows.ts";
import { rowsOf } from "./copying.ts";
import type { Generator } from "./generator.ts";
import { questionOf } from "./server.ts";
import type { AttentionGroupAnswer, Choice, CopyingAnswer, GenerateState, Sampling, StepRecord } from "./types.ts";

type Steps = { rows: StepRow[]; keys: { text: string }[]; group: AttentionGroupAnswer; choice: Choice };

/** The names of files of numbers, by the titles of their tables. */
const FILES: Readonly<Record<string, string>> = table({
  Candidates: "generate candidates",
  "Heads that copied": "copying heads",
  "Passages of the prompt": "passages",
});

/** @param copying where the token comes from */
export function generatedView(
  generator: Generator,
  { mode, settings, choice, sampling }: GenerateState,
  copying: CopyingAnswer | null,
): ShownView {
  const { record, tokens, source } = generator;
  if (!record || record.done) {
    const why = generator.endReason || "The next token is not known yet.";
    throw new Error(generator.generated.length ? `${why} Take the last token back, then export.` : why);
  }
  const group = record.attention_groups.length ? groupOf(record, choice.attention) : null;
  const rows = stepRows(generator, mode);
  const keys = group?.keys === "source" ? (source ?? []) : tokens;
  const written = generator.generated.map((token) => token.text).join("");
  const attended = group ? `${blendTitle(choice)} · the attention of each step, a row for each generated token` : "";
  const copied = copying ? rowsOf(copying) : [];
  const settled = `${describeSampling(sampling)}${written ? ` · generated: “${written.trim()}”` : ""}`;
  const steps = group && rows.length ? { rows, keys, group, choice } : null;
  const figureOf = (words: string[], shownSteps: Steps | null, candidates: ViewRow[]): ShownFigure => ({
    name: `generate-${choice.blend === "all" ? "all" : `layer${choice.layer}${choice.blend === "head" ? `-head${choice.head}` : ""}`}`,
    shown: [...words, settled].filter(Boolean).join(" · "),
    draw: (width, title) => drawGenerated(width, title, shownSteps, candidates),
  });
  const all = figureOf([attended], steps, record.rows);
  const tables = {
    ...(group && {
      "Attention of each step": attentionTable(rows, keys, group, choice),
      "All heads, this step": headsTable(record, group, keys),
    }),
    ...viewTables([...record.rows, ...copied]),
  };
  const passages = copied.filter(({ views }) => views.some(({ kind }) => kind === "bars"));
  return {
    sides: [generatedSide(generator, { settings, choice })],
    charts: {
      ...(steps && {
        "steps and candidates": () => all,
        "attention of each step": () => figureOf([attended], steps, []),
      }),
      candidates: () => (steps ? figureOf([], null, record.rows) : all),
      ...(copying && passages.length && { passages: () => passagesFigure(copying, passages) }),
    },
    tables: explained(tables, all.shown),
  };
}

function passagesFigure({ text }: CopyingAnswer, rows: ViewRow[]): ShownFigure {
  const shown = `what each passage of the prompt adds to “${text.trim()}”`;
  return { name: "passages", shown, draw: drawViews(rows) };
}

function viewTables(rows: ViewRow[]): Record<string, Table> {
  const tables = Object.entries(tablesOf(rows));
  return Object.fromEntries(
    tables.map(([title, numbers]) => [title, { ...numbers, name: FILES[title] ?? numbers.name }]),
  );
}

/** The generated run, with the displayed heads. */
export function generatedSide(
  { record, tokens, source: source_tokens }: Generator,
  { settings, choice }: Pick<GenerateState, "settings" | "choice">,
): ShownSide {
  const group = record && !record.done && record.attention_groups.length ? groupOf(record, choice.attention) : null;
  return {
    question: questionOf({ settings, choice }),
    attention_group: group?.name ?? "",
    heads: headsOf(choice, group),
    tokens,
    source_tokens,
  };
}

function describeSampling({ temperature, top_k: topK, top_p: topP, seed }: Sampling) {
  return `temperature ${temperature}, top-k ${topK || "all"}, top-p ${topP}, seed ${seed}`;
}

/** @returns empty: all heads */
function headsOf({ blend, layer, head }: Choice, group: AttentionGroupAnswer | null): [number, number][] {
  if (!group || blend === "all") return [];
  if (blend === "head") return [[layer, head]];
  return Array.from({ length: group.heads }, (_, each) => [layer, each]);
}

function drawGenerated(width: number, title: string, steps: Steps | null, candidates: ViewRow[]) {
  const { figure, y: begin } = beginFigure(width, title);
  const y = steps ? addSteps(figure, begin, steps) : begin;
  return { figure, y: addViews(figure, y, candidates) };
}

/** Returns the lower end. */
function addSteps(figure: Figure, y: number, { rows, keys, group, choice }: Steps) {
  const box = { x: MARGIN, width: figure.width - 2 * MARGIN };
  const heading = wrapText(`Attention: ${blendTitle(choice)}`, LABEL_SIZE, box.width);
  const top = addLines(figure, heading, MARGIN, y, { bold: true });
  const records = rows.map((row) => row.record);
  const codes = stepCodes(records, group.name, choice, keys.length);
  const axes = { down: "token generated", across: "key" };
  const map = { rows: rows.map(({ text }) => text), columns: keys.map(({ text }) => text), axes, codes };
  const end = addHeatmap(figure, map, { ...box, y: top }) + 1;
  const words = `${group.shows || "attention weight"}, square-root scale`;
  return addColourScale(figure, { low: "0", high: "1", words }, MARGIN, end) + 1;
}

/** @returns NaN if a token had not been generated yet */
function attentionTable(rows: StepRow[], keys: { text: string }[], group: AttentionGroupAnswer, choice: Choice): Table {
  const values = new Float32Array(rows.length * keys.length).fill(Number.NaN);
  rows.forEach(({ record }, row) => {
    values.set(attentionRow(record, groupOf(record, group.name), choice), row * keys.length);
  });
  const step = rows.map(({ text, record }) => `${record.position} ${text}`);
  return createTable("generate attention", { step, key: numbered(keys) }, values);
}

function headsTable(
  { numbers }: StepRecord,
  { layers, heads, columns, offset }: AttentionGroupAnswer,
  keys: { text: string }[],
): Table {
  const [layer, head] = [layers, heads].map((count) => Array.from({ length: count }, (_, place) => String(place)));
  const values = numbers.subarray(offset, offset + layers * heads * columns);
  return createTable("generate heads", { layer, head, key: numbered(keys.slice(0, columns)) }, values);
}
