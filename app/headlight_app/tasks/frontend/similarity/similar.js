// Compare sentences: the cosine of two sentences' vectors, the pairs of tokens it consists of, and each head's effect.

import { drawSigned } from "../../../explore/frontend/export/layer_figures.js";
import { runOf } from "../../../explore/frontend/export/shown_run.js";
import { drawCellTable, headWords, layerRows } from "../../../explore/frontend/layers/cell_table.js";
import { markWaiting, selectHeadOf } from "../../../explore/frontend/layers/layer_panel.js";
import { askFloats } from "../../../explore/frontend/server.js";
import { formatSigned } from "../../../ui/frontend/charts/charts.js";
import { activeElement, inlineText } from "../../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../../ui/frontend/dom/elements.js";
import { createTable, numbered } from "../../../ui/frontend/export/page_export.js";
import { drawRankedBars } from "./ranked_bars.js";

/** @import { ExplorePage, Found, RankedEntry, SentenceSimilarityAnswer, ShownDrawing, SimilarityHeadsAnswer, TableCell, TableRow } from "../types.js" */

const PAUSE = 120; // milliseconds; the intermediate texts of fast typing are not requested
const LISTED = 8;

/** @param {ExplorePage} page @param {string} name */
const part = (page, name) => findByTestId(page.view.elements.root, name);

export default {
  /** @param {ExplorePage} page */
  draw(page) {
    drawOther(page);
    const asked = { other_text: otherText(page) };
    const found = page.server.get("sentence_similarity", asked, PAUSE);
    const [verdict, reading] = [part(page, "similar-verdict"), part(page, "similar-heads-reading")];
    markWaiting(verdict, !found);
    markWaiting(reading, !found);
    if (!found) return;
    const { meta } = found;
    verdict.textContent = meta.error || `Cosine ${meta.cosine.toFixed(4)}`;
    part(page, "similar-pooling").textContent = meta.error ? "" : poolingWords(meta);
    if (meta.error) return;
    drawPairs(page, found);
    const heads = page.server.get("similarity_heads", asked, PAUSE);
    markWaiting(reading, !heads);
    if (heads && !heads.meta.error) drawHeads(page, heads);
  },

  /** @param {ExplorePage} page */
  async exported(page) {
    const asked = { other_text: otherText(page) };
    const found = await askFloats(page, "sentence_similarity", asked);
    return exportedSimilarity(page, found, await askFloats(page, "similarity_heads", asked));
  },
};

/** The second sentence; until one is typed, another example of the page. @param {ExplorePage} page */
function otherText({ state: { answer, catalogue, choice } }) {
  const example = catalogue.examples.find(({ text }) => text !== answer.question.text);
  return choice.other_text || (example?.text ?? "");
}

/** @param {ExplorePage} page */
function drawOther(page) {
  const box = findByTestId(page.view.elements.root, "similar-other", HTMLInputElement);
  box.oninput = () => page.change({ other_text: box.value });
  if (activeElement(box) !== box) box.value = otherText(page);
}

/** Describes how the vectors are made. @param {SentenceSimilarityAnswer} meta */
function poolingWords({ pooling, normalized, is_told }) {
  if (!is_told)
    return "This model was not trained for sentence vectors, and its files specify no pooling: its vectors are the means of all tokens' last hidden states.";
  return `Pooling specified in the model's files: ${pooling}${normalized ? ", vectors of length 1" : ""}.`;
}

/**
 * The numbers as a table, a row for each token.
 * @param {SentenceSimilarityAnswer} meta @param {Float32Array} numbers @returns {TableRow[]}
 */
function pairRows({ tokens, other_tokens: others }, numbers) {
  return tokens.map((token, row) => ({
    label: inlineText(token),
    cells: others.map((other, column) => {
      const title = `“${inlineText(token)}” and “${inlineText(other)}”`;
      const place = { layer: row, head: column, testid: `similar-${row}-${column}` };
      return { value: numbers[row * others.length + column], title, chosen: false, ...place };
    }),
  }));
}

/** The largest pairs, and the sum of all others. @param {TableRow[]} rows @param {number} cosine @returns {RankedEntry[]} */
function rankedPairs(rows, cosine) {
  const pairs = rows.flatMap(({ cells }) =>
    cells.flatMap((cell) => (cell?.value ? { title: cell.title, value: cell.value } : [])),
  );
  const largest = pairs.sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, LISTED);
  const others = cosine - largest.reduce((sum, { value }) => sum + value, 0);
  const rest =
    pairs.length > LISTED ? [{ title: `All ${pairs.length - LISTED} other pairs`, value: others, total: true }] : [];
  return [...largest, ...rest, { title: "Cosine", value: cosine, total: true }];
}

/** @param {ExplorePage} page @param {Found<SentenceSimilarityAnswer>} found */
function drawPairs(page, { meta, numbers }) {
  const rows = pairRows(meta, numbers);
  const reading = part(page, "similar-reading");
  const read = (/** @type {TableCell | null} */ cell) => {
    reading.textContent = cell?.value
      ? `${cell.title}: ${formatSigned(cell.value)} of ${meta.cosine.toFixed(4)}`
      : "Orange makes the sentences more similar, blue less. All cells together are the cosine.";
  };
  const table = findByTestId(page.view.elements.root, "similar-pairs", HTMLTableElement);
  drawCellTable(table, meta.other_tokens.map(inlineText), rows, { most: mostOf(numbers), read, pick: read });
  read(null);
  drawRankedBars(part(page, "similar-ranked"), rankedPairs(rows, meta.cosine));
}

/** @param {Iterable<number>} numbers */
function mostOf(numbers) {
  return Math.max(1e-9, ...Array.from(numbers, Math.abs));
}

/** The change of the cosine when each head is off, [layer][head]. @param {Found<SimilarityHeadsAnswer>} found */
function headChanges({ meta: { cosine, layers, heads }, numbers }) {
  return Array.from({ length: layers }, (_, layer) =>
    Array.from(numbers.subarray(layer * heads, (layer + 1) * heads), (without) => without - cosine),
  );
}

/** @param {ExplorePage} page @param {Found<SimilarityHeadsAnswer>} found */
function drawHeads(page, found) {
  const changes = headChanges(found);
  const table = findByTestId(page.view.elements.root, "similar-heads", HTMLTableElement);
  const reading = part(page, "similar-heads-reading");
  const read = (/** @type {TableCell | null} */ cell) => {
    reading.textContent = cell
      ? `Without ${cell.title.toLowerCase()}: ${(found.meta.cosine + (cell.value ?? 0)).toFixed(4)}`
      : "Each head is off in both sentences. Blue: they are less similar without it. Click a head to choose it.";
  };
  drawCellTable(
    table,
    Array.from(changes[0] ?? [], (_, head) => head),
    layerRows(changes, "similar-head", headWords(page)),
    { most: mostOf(changes.flat()), read, pick: ({ layer, head }) => selectHeadOf(page, layer, head) },
  );
  read(null);
}

/**
 * @param {ExplorePage} page @param {Found<SentenceSimilarityAnswer>} found @param {Found<SimilarityHeadsAnswer>} heads
 * @returns {ShownDrawing}
 */
function exportedSimilarity(page, { meta, numbers }, heads) {
  const rows = pairRows(meta, numbers);
  const [columns, changes] = [meta.other_tokens.map(inlineText), headChanges(heads)];
  const labelled = (/** @type {string[]} */ tokens) => numbered(tokens.map((text) => ({ text })));
  const across = (changes[0] ?? []).map((_, head) => String(head));
  return {
    name: "similarity",
    shown: `what each pair of tokens adds to the cosine ${meta.cosine.toFixed(4)} with “${inlineText(otherText(page))}”; pooling: ${meta.pooling}`,
    sides: [runOf(page)],
    draw: drawSigned(
      { columns, rows },
      { title: "The largest pairs", entries: rankedPairs(rows, meta.cosine) },
      "part of the cosine",
    ),
    tables: {
      "Pairs of tokens": createTable(
        "similarity pairs",
        { token: labelled([...meta.tokens]), other_token: labelled([...meta.other_tokens]) },
        numbers,
      ),
      ...(changes.length && {
        "Without each head": createTable(
          "similarity heads",
          { layer: changes.map((_, layer) => String(layer)), head: across },
          changes.flat(),
        ),
      }),
    },
  };
}
