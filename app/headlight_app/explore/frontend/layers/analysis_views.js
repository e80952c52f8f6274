// An analysis whose views are computed in Python: on the screen, as a figure, and as numbers.

import { updateChildren } from "../../../ui/frontend/dom/dom.js";
import { markTokens } from "../../../ui/frontend/heads/token_strip.js";
import { currentGroup } from "../../../ui/frontend/state/head_selection.js";
import { remembered } from "../../../ui/frontend/state/memory.js";
import { isControl } from "../../../ui/frontend/views/controls.js";
import { drawViews, isDrawn } from "../../../ui/frontend/views/export/figures.js";
import { tablesOf } from "../../../ui/frontend/views/export/tables.js";
import { createRows } from "../../../ui/frontend/views/rows.js";
import { runOf } from "../export/shown_run.js";
import { askFloats } from "../server.js";
import { askedQuestion, detailsOf, picksOf } from "./analysis_choice.js";
import { drawRun, keepSteps, stepsOf } from "./analysis_steps.js";
import { activeAnalysis, answerPosition, layerElement, markWaiting, showLayersMessage } from "./layer_panel.js";
import { keepScrolled } from "./scrolling.js";

/** @import { Drawn } from "../../../ui/frontend/views/rows.js" */
/** @import { Surroundings, ViewRow } from "../../../ui/frontend/views/types.js" */
/** @import { AnalysisAnswer, AnalysisRow, ExplorePage, Found, ShownDrawing } from "../types.js" */

const ISOLATES = /[\u2068\u2069]/g; // around tokens in a sentence
const PLACES = ["analysis-views", "analysis-long", "analysis-steps"];

const memory = remembered((/** @type {ExplorePage} */ _page) => ({
  /** Kept from answer to answer. */
  shown: {
    isOpen: false,
    controls: /** @type {Map<string, HTMLElement>} */ (new Map()),
    drawn: /** @type {WeakMap<ViewRow, Drawn>} */ (new WeakMap()),
  },
  /** The rows of each place, and the question that they are about. */
  rows: /** @type {Map<HTMLElement, { rows: ViewRow[], question: string }>} */ (new Map()),
  /** The titles of the rows when a part was clicked: a row that this opens is scrolled to. */
  before: /** @type {string[] | null} */ (null),
}));

/** @param {ExplorePage} page */
export function drawAnalysis(page) {
  const row = activeAnalysis(page);
  const [atOnce, later, stepwise] = PLACES.map((name) => layerElement(page, name));
  if (atOnce.dataset.shown !== row.name) {
    for (const place of [atOnce, later, stepwise]) {
      place.replaceChildren();
      place.dataset.drawn = "";
    }
    memory(page).shown.controls.clear();
    memory(page).rows.clear();
    memory(page).before = null;
    say(page, "");
  }
  atOnce.dataset.shown = row.name;
  const { server } = page;
  const details = detailsOf(page, row);
  const isDrawn = row.routes.includes("analysis")
    ? drawFound(page, atOnce, server.get("analysis", detailsOf(page, row, { ofControls: true })))
    : drawRows(page, atOnce, []);
  if (!isDrawn) return;
  if (!row.routes.includes("long_analysis")) drawRows(page, later, []);
  else if (!drawFound(page, later, server.get("long_analysis", details, row.pause))) return;
  drawRun(page, row);
  drawRows(page, stepwise, stepsOf(page, row)?.rows ?? []);
  if (atOnce.ariaBusy !== "true") memory(page).before = null;
}

/**
 * Whether the analysis can be shown for this model.
 * @param {ExplorePage} page @param {HTMLElement} place @param {Found<AnalysisAnswer> | null} found
 */
function drawFound(page, place, found) {
  const { name, routes } = activeAnalysis(page);
  const isWhole = place.dataset.testid === PLACES[0] || routes.length === 1;
  if (isWhole && place.dataset.drawn !== name) markWaiting(place, !found);
  else place.ariaBusy = String(!found);
  if (!found) return keepRows(page, place, isWhole);
  place.dataset.drawn = name;
  if (!found.meta.error) return drawRows(page, place, rowsOf(found.meta));
  if (!isWhole) return drawRows(page, place, [sentenceRow(found.meta.error)]); // the rest can be used without it
  showLayersMessage(page, found.meta.error);
  return false;
}

/**
 * Until the answer has come, the earlier rows stay; of the same text they show at once what is chosen now. What a part of
 * an analysis offers for another text goes.
 * @param {ExplorePage} page @param {HTMLElement} place @param {boolean} isWhole
 */
function keepRows(page, place, isWhole) {
  const { rows, question } = memory(page).rows.get(place) ?? { rows: [], question: "" };
  if (question === JSON.stringify(page.state.answer.question)) return drawRows(page, place, rows);
  const offers = !isWhole && rows.some((row) => row.views.some(isControl));
  return offers ? drawRows(page, place, []) : true;
}

/** @param {ExplorePage} page @param {HTMLElement} place @param {ViewRow[]} rows */
function drawRows(page, place, rows) {
  const width = place.parentElement?.clientWidth || innerWidth;
  const key = JSON.stringify([width, page.state.choice, answerPosition(page)]);
  memory(page).rows.set(place, { rows, question: JSON.stringify(page.state.answer.question) });
  const surroundings = { width, picks: chosenHere(page), mark: marksOf(page) };
  const drawn = createRows(rows, surroundings, Object.assign(memory(page).shown, { key }));
  keepScrolled(place, () => updateChildren(place, ...drawn));
  scrollToOpened(page, rows, place);
  const sentence = firstSentence(rows);
  if (sentence) say(page, sentence);
  return true;
}

/** Marks the tokens of a part that is pointed at, or else that of the answer. @param {ExplorePage} page @returns {Surroundings["mark"]} */
function marksOf(page) {
  return (query, key) => {
    const [side, position] = query ?? ["text", answerPosition(page)];
    markTokens(page, { side, position }, key && { side: key[0], position: key[1] });
  };
}

/** The picks of the views; what one of them opens is scrolled to. @param {ExplorePage} page */
function chosenHere(page) {
  const picks = picksOf(page);
  return {
    ...picks,
    choose(/** @type {Parameters<typeof picks.choose>[0]} */ pick) {
      memory(page).before = PLACES.flatMap((name) => headingsOf(layerElement(page, name)));
      keepSteps(page, activeAnalysis(page), pick);
      picks.choose(pick);
    },
  };
}

/** @param {HTMLElement} place */
function headingsOf(place) {
  return [...place.querySelectorAll("h3")].map(({ textContent }) => textContent ?? "");
}

/** @param {ExplorePage} page @param {ViewRow[]} rows @param {HTMLElement} place */
function scrollToOpened(page, rows, place) {
  const { before } = memory(page);
  const opened = before ? rows.findIndex(({ title }) => title && !before.includes(title)) : -1;
  if (opened < 0) return;
  memory(page).before = null;
  place.children[opened]?.scrollIntoView({ block: "nearest" });
}

/** Says a sentence to a screen reader, once. @param {ExplorePage} page @param {string} sentence */
function say(page, sentence) {
  const said = layerElement(page, "analysis-said");
  if (said.textContent !== sentence) said.textContent = sentence;
}

/** @param {ViewRow[]} rows */
function firstSentence(rows) {
  return rows.flatMap(({ views }) => views.flatMap((view) => (view.kind === "verdict" ? [view.text] : [])))[0] ?? "";
}

/** @param {string} text @returns {ViewRow} */
function sentenceRow(text) {
  return { title: "", text, views: [], folded: false };
}

/** @param {AnalysisAnswer} answer */
export function rowsOf({ rows }) {
  return /** @type {ViewRow[]} */ (/** @type {unknown} */ (rows));
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
export async function exportAnalysis(page) {
  const row = activeAnalysis(page);
  const name = row.name.replaceAll("_", "-");
  const rows = await rowsToSave(page, row);
  const words = stepsOf(page, row)?.answer?.words ?? "";
  const side = { question: askedQuestion(page, row), ...attentionOf(page, row) };
  return drawingOf(page, name, rows, [row.title, words], side);
}

/**
 * Rows as a figure and as numbers.
 * @param {ExplorePage} page @param {string} name @param {ViewRow[]} rows @param {string[]} [words] said before and after
 * @param {object} [side] what else is known of the run @returns {ShownDrawing}
 */
export function drawingOf(page, name, rows, [title, words] = ["", ""], side = {}) {
  const said = new Set([title, ...rows.flatMap(captionsOf), words].filter(Boolean));
  return {
    name,
    shown: [...said].join("; ").replace(ISOLATES, ""),
    sides: [{ ...runOf(page), ...side }],
    draw: drawViews(rows),
    tables: tablesOf(rows),
  };
}

/** What is said of a row in a figure: of what it draws, and what it states. @param {ViewRow} row */
function captionsOf({ title, text, views }) {
  const said = views.flatMap((view) => (view.kind === "verdict" ? [view.text] : isDrawn(view) ? [view.title] : []));
  return views.some(isDrawn) ? [title, ...said, text] : said;
}

/** The attention that is analysed, if it can be chosen: patches are of self-attention. @param {ExplorePage} page @param {AnalysisRow} row */
function attentionOf(page, { reads, of_unpatched }) {
  const group = currentGroup(page);
  if (!group || !reads.includes("attention")) return {};
  return { attention_group: of_unpatched ? `${group.stack}.self` : group.name };
}

/** All rows, with their numbers. @param {ExplorePage} page @param {AnalysisRow} row @returns {Promise<ViewRow[]>} */
async function rowsToSave(page, row) {
  const steps = stepsOf(page, row);
  if (row.start && !steps?.rows.length)
    throw new Error(`Nothing is computed yet: press “${row.start}” first, then save the result.`);
  const asked = { ...detailsOf(page, row, { ofControls: true }), with_tables: true };
  const answers = [
    row.routes.includes("analysis") && askFloats(page, "analysis", asked),
    row.routes.includes("long_analysis") && askFloats(page, "long_analysis", asked),
  ];
  const found = await Promise.all(answers);
  return [...found.flatMap((answer) => (answer ? rowsOf(answer.meta) : [])), ...(steps?.rows ?? [])];
}
