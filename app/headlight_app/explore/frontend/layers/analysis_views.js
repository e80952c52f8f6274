// An analysis whose views are computed in Python: on the screen, as a figure, and as numbers.

import { updateChildren } from "../../../ui/frontend/dom/dom.js";
import { urlPosition } from "../../../ui/frontend/state/token_selection.js";
import { drawViews } from "../../../ui/frontend/views/export/figures.js";
import { tablesOf } from "../../../ui/frontend/views/export/tables.js";
import { createRows } from "../../../ui/frontend/views/rows.js";
import { runOf } from "../export/shown_run.js";
import { askFloats } from "../server.js";
import { activeAnalysis, answerPosition, layerElement, markWaiting, showLayersMessage } from "./layer_panel.js";

/** @import { Pick, Picks, ViewRow } from "../../../ui/frontend/views/types.js" */
/** @import { AnalysisAnswer, AnalysisRow, ExplorePage, ShownDrawing, Tab } from "../types.js" */

const ISOLATES = /[\u2068\u2069]/g; // around tokens in a sentence

export default /** @type {Tab} */ ({ draw: drawAnalysis, exported: exportAnalysis });

/** @param {ExplorePage} page */
function drawAnalysis(page) {
  const row = activeAnalysis(page);
  const place = layerElement(page, "analysis-views");
  if (place.dataset.shown !== row.name) {
    place.replaceChildren();
    say(page, "");
  }
  place.dataset.shown = row.name;
  const details = detailsOf(page, row);
  const { server } = page;
  const found = row.is_long
    ? server.get("long_analysis", details, row.pause)
    : server.get("analysis", details, row.pause);
  markWaiting(place, !found);
  if (!found) return;
  if (found.meta.error) return showLayersMessage(page, found.meta.error);
  const surroundings = { width: place.clientWidth || innerWidth, picks: picksOf(page) };
  updateChildren(place, ...createRows(rowsOf(found.meta), surroundings, { isOpen: false }));
  say(page, firstSentence(rowsOf(found.meta)));
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

/** The request: of the choice only what the analysis reads, so that other changes ask for nothing. @param {ExplorePage} page @param {AnalysisRow} row */
function detailsOf(page, { name, reads }) {
  const chosen = chosenNow(page);
  return { analysis: name, choice: Object.fromEntries(reads.map((field) => [field, chosen[field]])) };
}

/** The choice, with the position that `query` stands for. @param {ExplorePage} page @returns {Record<string, unknown>} */
function chosenNow(page) {
  return { ...page.state.choice, query: answerPosition(page) };
}

/** @param {AnalysisAnswer} answer */
function rowsOf({ rows }) {
  return /** @type {ViewRow[]} */ (/** @type {unknown} */ (rows));
}

/** @param {ExplorePage} page @returns {Picks} */
function picksOf(page) {
  const chosen = chosenNow(page);
  return {
    choose: (pick) => page.change(changeOf(page, pick)),
    isChosen: (pick) => Object.entries(pick).every(([field, value]) => String(chosen[field]) === String(value)),
  };
}

/** A pick as a change of the choice; another query unlocks the tokens. @param {ExplorePage} page @param {Pick} pick */
function changeOf(page, pick) {
  return "query" in pick ? { ...pick, query: urlPosition(page, Number(pick.query)), pinned: [] } : pick;
}

/** @param {ExplorePage} page @returns {Promise<ShownDrawing>} */
async function exportAnalysis(page) {
  const row = activeAnalysis(page);
  const { meta } = await askFloats(page, row.is_long ? "long_analysis" : "analysis", detailsOf(page, row));
  const rows = rowsOf(meta);
  const views = rows.flatMap((each) => each.views);
  const said = views.map((view) => (view.kind === "verdict" ? view.text : view.title));
  return {
    name: row.name.replaceAll("_", "-"),
    shown: [row.title, ...said.filter(Boolean)].join("; ").replace(ISOLATES, ""),
    sides: [runOf(page)],
    draw: drawViews(rows),
    tables: tablesOf(rows),
  };
}
