// The logit lens: the prediction after each layer, per token or for the whole text; surprisal of the tokens; residual
// norms.

import { answerNumber, areScores, bestWord, formatScore, unitOf } from "../../../ui/frontend/charts/answer_numbers.js";
import { formatNumber } from "../../../ui/frontend/charts/charts.js";
import { paintScale, readableInk, SIGNED_COLOURS, WEIGHT_COLOURS } from "../../../ui/frontend/charts/colours.js";
import { onCellKey } from "../../../ui/frontend/dom/cell_keys.js";
import {
  activeElement,
  createElement,
  createHeading,
  drawChoices,
  inlineText,
  onHover,
  quotedToken,
  updateChildren,
} from "../../../ui/frontend/dom/dom.js";
import { find } from "../../../ui/frontend/dom/elements.js";
import { table } from "../../../ui/frontend/dom/table.js";
import { createTable, numbered } from "../../../ui/frontend/export/page_export.js";
import { remembered } from "../../../ui/frontend/state/memory.js";
import { predictsFromImage } from "../../../ui/frontend/state/token_selection.js";
import { drawLens, SHARES, shadeOf } from "../export/layer_figures.js";
import { runOf } from "../export/shown_run.js";
import { askFloats } from "../server.js";
import { answerPosition, layerElement, showLayersMessage } from "./layer_panel.js";
import { drawResidualNorms, normChart, normTable } from "./residual_norms.js";
import { drawSurprisal } from "./surprisal.js";

/** @import { ExploreAnswer, ExplorePage, Found, LensLossesAnswer, LogitLensAnswer, ShownDrawing, Tab } from "../types.js" */
/** @import { LensScale } from "../export/layer_figures.js" */
/** @typedef {Found<LogitLensAnswer>} LensFound */

const WINDOW_SIZE = 32; // tokens in one request

const LENSES = table({ "": "Logit lens", tuned: "Tuned lens" });
const EDGE = 8; // pixels after the last column

const memory = remembered((/** @type {ExplorePage} */ _page) => ({
  /** The window that the visitor opened for an answer. */
  window: /** @type {{ answer: ExploreAnswer, open: number } | null} */ (null),
  drawn: /** @type {{ found: LensFound, asked: number } | null} */ (null),
  /** The answer and position that were scrolled to. */
  scrolledTo: "",
}));

export default /** @type {Tab} */ ({ draw: drawLogitLens, exported: exportLens });

/** @param {ExplorePage} page */
function drawLogitLens(page) {
  drawResidualNorms(page);
  const windows = Math.ceil(page.state.answer.tokens.length / WINDOW_SIZE);
  const open = openWindow(page);
  drawWindows(page, open, windows);
  const found = page.server.get("logit_lens", lensQuery(page));
  if (!found) return;
  if (found.meta.error) return showLayersMessage(page, found.meta.error);
  layerElement(page, "lens-explanation").textContent = found.meta.explanation;
  drawLenses(page, found.meta.losses);
  layerElement(page, "lens-surprisal").hidden = found.meta.predicts_labels;
  if (!found.meta.predicts_labels) drawSurprisal(page);
  drawTable(page, found);
}

/** @param {ExplorePage} page */
function lensQuery(page) {
  return { first: openWindow(page) * WINDOW_SIZE, tuned: page.state.choice.lens === "tuned" };
}

/** The choice of a lens, and the loss of each. @param {ExplorePage} page @param {LensLossesAnswer | null} losses */
function drawLenses(page, losses) {
  const [choices, part] = [layerElement(page, "lenses"), layerElement(page, "lens-losses-part")];
  choices.hidden = part.hidden = !losses;
  if (!losses) return;
  drawChoices(choices, "lens", Object.entries(LENSES), page.state.choice.lens, (lens) =>
    page.change({ lens: lens === "tuned" ? "tuned" : "" }),
  );
  const { bits_per_byte: bits, measured_on: texts, unit } = losses;
  layerElement(page, "lens-losses-words").textContent =
    `Bits lost on held-out text (${texts.map((name) => name.split(".")[0]).join(", ")}) if the model is read after a layer instead of at its end: the whole model needs ${formatNumber(bits, 3)}. The numbers are ${unit}.`;
  const heading = createElement(
    "tr",
    "",
    ["", ...Object.values(LENSES)].map((title) => createHeading(title, "col")),
  );
  const rows = losses.logit_lens.map((lost, depth) =>
    createElement("tr", "", [
      createHeading(depthName(depth, losses.logit_lens.length + 1), "row"),
      ...[lost, losses.tuned_lens[depth]].map((number) => createElement("td", "number", number.toFixed(3))),
    ]),
  );
  updateChildren(layerElement(page, "lens-losses", HTMLTableElement), heading, ...rows);
}

/** @param {ExplorePage} page */
function openWindow(page) {
  const { window } = memory(page);
  return window?.answer === page.state.answer ? window.open : Math.floor(answerPosition(page) / WINDOW_SIZE);
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
async function exportLens(page) {
  const found = await askFloats(page, "logit_lens", lensQuery(page));
  const title = LENSES[page.state.choice.lens === "tuned" && found.meta.losses ? "tuned" : ""];
  const lens = title.toLowerCase();
  const norms = await askFloats(page, "residual_norms", {}).catch(() => null); // null without a residual stream
  const { meta } = found;
  const columns = Array.from({ length: meta.columns }, (_, column) => columnName(page, meta, column));
  const depths = Array.from({ length: meta.depths }, (_, depth) =>
    depthName(depth, meta.depths, meta.columns === meta.count),
  );
  const cells = depths.map((_, depth) => columns.map((_, column) => readCell(found, depth, column)));
  const scale = scaleOf(found);
  const [unit, best] = [unitOf(meta), bestWord(meta)];
  const rows = depths.map((label, depth) => ({
    label,
    cells: cells[depth].map((cell, column) => ({
      answer: cell.answers[0],
      share: cell.shares[0],
      note: meta.predicts_labels ? answerNumber(meta, cell.shares[0]) : cell.rank ? `#${cell.rank}` : "",
      asked: isAsked(page, meta, column),
    })),
  }));
  const true_texts = meta.targets.map((token) => ({ lines: [token < 0 ? "?" : meta.answer_texts[token]] }));
  const truth = meta.predicts_labels ? [] : [{ label: truthName(page), cells: true_texts }];
  const labels = { depth: depths, token: numbered(columns.map((text) => ({ text }))) };
  const table = (/** @type {string} */ name, /** @type {(cell: ReturnType<typeof readCell>) => number} */ value) =>
    createTable(`${lens} ${name}`, labels, cells.flat().map(value));
  return {
    name: lens.replace(" ", "-"),
    shown: `${lens}: the ${best} answer after each layer, its ${unit} as colour${meta.predicts_labels ? "" : ", # the rank of the true token"}`,
    sides: [runOf(page)],
    draw: drawLens({
      ...{ columns, rows, truth, scale },
      words: `${unit} of the ${best} answer`,
      norms: norms && normChart(page, norms),
    }),
    tables: {
      [`${title}: ${unit} of the ${best}`]: table(unit, ({ shares }) => shares[0]),
      ...(!meta.predicts_labels && { [`${title}: rank of the true token`]: table("rank", ({ rank }) => rank) }),
      ...(meta.losses && { "What the lenses lose": lossesTable(meta.losses, depths) }),
      ...(norms && { "Norms of the residual stream": normTable(page, norms) }),
    },
  };
}

/** @param {LensLossesAnswer} losses @param {string[]} depths */
function lossesTable({ logit_lens, tuned_lens, unit }, depths) {
  const values = logit_lens.flatMap((lost, depth) => [lost, tuned_lens[depth]]);
  return createTable("lens losses", { depth: depths.slice(0, -1), [`lost, ${unit}`]: Object.values(LENSES) }, values);
}

/** @param {ExplorePage} page @param {number} open @param {number} windows */
function drawWindows(page, open, windows) {
  const bar = layerElement(page, "lens-windows");
  const { answer } = page.state;
  bar.hidden = windows < 2;
  const go = (/** @type {number} */ to) => {
    memory(page).window = { answer, open: to };
    drawLogitLens(page);
  };
  const [earlier, later] = ["earlier", "later"].map((name) => layerElement(page, `lens-${name}`, HTMLButtonElement));
  earlier.disabled = open === 0;
  later.disabled = open === windows - 1;
  earlier.onclick = () => go(open - 1);
  later.onclick = () => go(open + 1);
  const last = Math.min((open + 1) * WINDOW_SIZE, answer.tokens.length) - 1;
  find(bar, "span").textContent = `tokens ${open * WINDOW_SIZE} to ${last} of ${answer.tokens.length}`;
}

/**
 * The content of a cell: its likeliest answers with their shares, and the rank of the true token (0: unknown).
 * @param {LensFound} found @param {number} depth @param {number} column
 */
export function readCell({ meta, numbers }, depth, column) {
  const size = 2 * meta.top_k + 2;
  const start = (depth * meta.columns + column) * size;
  const cell = numbers.subarray(start, start + size);
  const answers = Array.from(cell.subarray(0, meta.top_k), (answer) => meta.answer_texts[answer]);
  return { answers, shares: cell.subarray(meta.top_k, 2 * meta.top_k), rank: cell[size - 2] };
}

/**
 * The colours of the numbers: from 0 to 1, or from the largest score below zero to the one above.
 * @param {LensFound} found @returns {LensScale}
 */
function scaleOf(found) {
  const { meta } = found;
  if (!areScores(meta)) return SHARES;
  const cells = Array.from({ length: meta.depths * meta.columns }, (_, cell) => readCell(found, 0, cell).shares[0]);
  const most = Math.max(...cells.filter(Number.isFinite).map(Math.abs), 1e-9);
  return { low: formatScore(-most), high: formatScore(most), note: "white at zero", most };
}

/**
 * The position of a column's token; null for the whole text, whose column comes first.
 * @param {LogitLensAnswer} meta @param {number} column
 */
export function columnPosition({ first, count, columns }, column) {
  const place = column - (columns - count);
  return place < 0 ? null : first + place;
}

/** The column of the answer on the page. @param {ExplorePage} page @param {LogitLensAnswer} meta */
function answerColumn(page, { first, count, columns }) {
  return columns > count ? 0 : Math.min(Math.max(answerPosition(page) - first, 0), count - 1);
}

/** @param {ExplorePage} page */
function wholeName(page) {
  return predictsFromImage(page) ? "whole image" : "whole text";
}

/**
 * The name of a row. The last row is the model's answer, except for the tokens of a text labelled as a whole.
 * @param {number} depth @param {number} depths
 */
function depthName(depth, depths, isAnswer = true) {
  if (depth === 0) return "embedding";
  return depth === depths - 1 && isAnswer ? "the answer" : `after layer ${depth - 1}`;
}

/** @param {ExplorePage} page @param {LensFound} found */
function drawTable(page, found) {
  const { meta } = found;
  const table = layerElement(page, "lens", HTMLTableElement);
  const asked = answerPosition(page);
  const { drawn } = memory(page);
  if (drawn?.found === found && drawn.asked === asked && table.rows.length) return;
  memory(page).drawn = { found, asked };
  const scale = scaleOf(found);
  const rows = Array.from({ length: meta.depths }, (_, depth) => createRow(page, found, depth, scale));
  table.classList.toggle("labels", meta.predicts_labels);
  const truth = meta.predicts_labels ? [] : [createTruthRow(page, meta)];
  updateChildren(table, createTokenRow(page, meta), ...rows, ...truth);
  const cells = ['button[tabindex="0"]', "td.asked button", "button"].map(
    (selector) => /** @type {HTMLElement | null} */ (table.querySelector(selector)),
  );
  const start = cells.find((cell) => cell !== null);
  if (start) start.tabIndex = 0;
  table.onkeydown = (event) => onCellKey(table, event);
  drawLegend(page, scale);
  scrollToPosition(page, table);
  if (table.contains(activeElement(table))) return; // keep the text of the focused cell
  drawReadout(page, found, meta.depths - 1, answerColumn(page, meta));
}

/** The legend in the page's HTML is that of probabilities. @param {ExplorePage} page @param {LensScale} scale */
function drawLegend(page, { low, high, note, most }) {
  const canvas = layerElement(page, "lens-scale", HTMLCanvasElement);
  paintScale(canvas, most === null ? WEIGHT_COLOURS : SIGNED_COLOURS);
  if (most === null) return;
  const words = [low, null, high, `score, ${note}`];
  [...(canvas.parentElement?.children ?? [])].forEach((part, place) => {
    if (words[place] !== null) part.textContent = words[place];
  });
}

/** @param {ExplorePage} page @param {LogitLensAnswer} meta @param {number} column */
function columnName(page, meta, column) {
  const position = columnPosition(meta, column);
  return position === null ? wholeName(page) : page.state.answer.tokens[position].text;
}

/** @param {ExplorePage} page */
function truthName(page) {
  return page.state.answer.maskable ? "original token" : "true next token";
}

/** @param {ExplorePage} page @param {LogitLensAnswer} meta */
function createTokenRow(page, meta) {
  const headings = Array.from({ length: meta.columns }, (_, column) => {
    const cell = createHeading("", "col");
    cell.classList.toggle("asked", isAsked(page, meta, column));
    cell.append(createElement("bdi", "", inlineText(columnName(page, meta, column))));
    return cell;
  });
  return createElement("tr", "", [createElement("th", "", "after reading"), ...headings]);
}

/** @param {ExplorePage} page @param {LogitLensAnswer} meta @param {number} column */
function isAsked(page, meta, column) {
  return meta.columns > meta.count ? column === 0 : columnPosition(meta, column) === answerPosition(page);
}

/** @param {ExplorePage} page @param {LensFound} found @param {number} depth @param {LensScale} scale */
function createRow(page, found, depth, scale) {
  const cells = Array.from({ length: found.meta.columns }, (_, column) =>
    createCell(page, found, depth, column, scale),
  );
  const { depths, columns, count } = found.meta;
  return createElement("tr", "", [createHeading(depthName(depth, depths, columns === count), "row"), ...cells]);
}

/** @param {ExplorePage} page @param {LogitLensAnswer} meta */
function createTruthRow(page, { targets, answer_texts }) {
  const cells = targets.map((token) =>
    createElement("td", "", [createElement("bdi", "", token < 0 ? "?" : inlineText(answer_texts[token]))]),
  );
  return createElement("tr", "truth", [createHeading(truthName(page), "row"), ...cells]);
}

/**
 * The scroll offset of a table that shows its columns up to `end`, none of them partly behind the row headings.
 * @param {{ left: number }[]} columns @param {number} heading width of the row headings @param {number} end @param {number} width of the frame
 */
export function wholeColumns(columns, heading, end, width) {
  const least = end - width;
  if (least <= 0) return 0;
  const first = columns.find(({ left }) => left - heading >= least) ?? columns[columns.length - 1];
  return first.left - heading - EDGE / 4;
}

/**
 * Scroll to the current token once per answer.
 * @param {ExplorePage} page @param {HTMLTableElement} table
 */
function scrollToPosition(page, table) {
  const cell = /** @type {HTMLElement | null} */ (table.querySelector("td.asked"));
  const frame = table.parentElement;
  const place = `${page.state.answered} ${answerPosition(page)}`;
  if (!cell || !frame || memory(page).scrolledTo === place) return;
  memory(page).scrolledTo = place;
  const cells = [...(cell.parentElement?.children ?? [])].map((each) => /** @type {HTMLElement} */ (each));
  const [heading, ...columns] = cells.map(({ offsetLeft, offsetWidth }) => ({ left: offsetLeft, width: offsetWidth }));
  const end = cell.offsetLeft + cell.offsetWidth + EDGE;
  frame.scrollLeft = wholeColumns(columns, heading.width, end, frame.clientWidth);
}

/** @param {ExplorePage} page @param {LensFound} found @param {number} depth @param {number} column @param {LensScale} scale */
function createCell(page, found, depth, column, scale) {
  const position = columnPosition(found.meta, column);
  const { answers, shares, rank } = readCell(found, depth, column);
  const ground = shadeOf(scale, shares[0]);
  const button = createElement("button", "", [], { tabIndex: -1, testid: `lens-${depth}-${position ?? "whole"}` });
  button.style.background = `rgb(${ground.join(" ")})`;
  button.style.color = readableInk(ground);
  const figure = found.meta.predicts_labels ? answerNumber(found.meta, shares[0]) : rank ? `#${rank}` : "";
  button.append(createElement("bdi", "", inlineText(answers[0])), createElement("small", "", figure));
  const read = () => drawReadout(page, found, depth, column);
  button.onfocus = read;
  onHover(button, { read });
  if (position !== null)
    button.onclick = () =>
      page.change({ query: position === page.state.answer.tokens.length - 1 ? -1 : position, target_token: -1 });
  return createElement("td", isAsked(page, found.meta, column) ? "asked" : "", [button]);
}

/** @param {ExplorePage} page @param {LensFound} found @param {number} depth @param {number} column */
function drawReadout(page, found, depth, column) {
  const { meta } = found;
  const { answers, shares, rank } = readCell(found, depth, column);
  const position = columnPosition(meta, column);
  const name = depthName(depth, meta.depths, meta.columns === meta.count || position === null);
  const words = answers.flatMap((answer, place) => [
    place ? ", " : "",
    quotedToken({ text: answer }),
    ` ${answerNumber(meta, shares[place])}`,
  ]);
  const token = position === null ? -1 : meta.targets[position - meta.first];
  const right = token < 0 ? [] : [" · true: ", quotedToken({ text: meta.answer_texts[token] }), `, rank ${rank}`];
  const at =
    position === null ? [`, ${wholeName(page)}: `] : [", at ", quotedToken(page.state.answer.tokens[position]), ": "];
  layerElement(page, "lens-reading").replaceChildren(
    `${name[0].toUpperCase()}${name.slice(1)}`,
    ...at,
    ...words,
    ...right,
  );
}
